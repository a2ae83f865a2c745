import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { ToggleButton, ToggleButtonGroup } from "react-aria-components";
import type { Place, System } from "../../../../packages/clients/client";
import { SCOPES, SYSTEMS } from "../../../../packages/clients/places";
import type { Entry, McpClient } from "../../../../packages/mcp-clients";
import { systemOf } from "../../system";
import { Code } from "../../ui/code";
import { CopyButton } from "../../ui/copy";
import { Notes } from "./notes";

/** What goes into the file of a client, where that file is, and links that do the same. */
export function Fragment({
  client,
  entry,
  variable,
  onCopied,
}: {
  client: McpClient;
  entry: Entry;
  variable: string;
  onCopied: () => void;
}) {
  const { title, places, file, alternative } = client;
  const links = client.links?.(entry, variable) ?? [];
  return (
    <div className="fragment">
      {places.length > 0 && <Places places={places} title={title} />}
      <Text
        client={title}
        heading={file === undefined ? "Merge this into the file" : `Merge this into ${file}`}
        text={client.config([entry], { variable })}
        onCopied={onCopied}
      />
      {links.length > 0 && (
        <p className="links">
          {links.map((link) => (
            <a key={link.title} className="btn btn-plain" href={link.href} onClick={onCopied}>
              <ExternalLink size={15} aria-hidden />
              {link.title}
            </a>
          ))}
        </p>
      )}
      <Notes client={client} />
      {alternative && (
        <Text
          client={`${title} alternative`}
          heading={alternative.title}
          text={alternative.config([entry], variable)}
          note={alternative.note}
          onCopied={onCopied}
        />
      )}
    </div>
  );
}

function Text({
  client,
  heading,
  text,
  note,
  onCopied,
}: {
  client: string;
  heading: string;
  text: string;
  note?: string | undefined;
  onCopied: () => void;
}) {
  return (
    <>
      <div className="panel-bar">
        <h3>{heading}</h3>
        <CopyButton text={text} what={`${client} fragment`} label="Copy" onCopied={onCopied} />
      </div>
      {note && <p className="note">{note}</p>}
      <Code text={text} label={`${client} fragment`} />
    </>
  );
}

/** The files of a client on one system: that of the visitor, until another is chosen. */
function Places({ places, title }: { places: readonly Place[]; title: string }) {
  const [system, setSystem] = useState<System>(systemOf(navigator.userAgent));
  return (
    <div className="places">
      <ToggleButtonGroup
        aria-label="Operating system"
        className="segments"
        disallowEmptySelection
        selectedKeys={[system]}
        onSelectionChange={(keys) => {
          const [chosen] = keys;
          if (chosen !== undefined) setSystem(chosen as System);
        }}
      >
        {Object.entries(SYSTEMS).map(([id, name]) => (
          <ToggleButton key={id} id={id} className="segment">
            {name}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      <ul aria-label={`Files of ${title}`}>
        {places.map(({ scope, paths, remark }) => (
          <li key={paths[system]}>
            {SCOPES[scope]}
            {remark === undefined ? "" : ` (${remark})`}: <code>{paths[system]}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}
