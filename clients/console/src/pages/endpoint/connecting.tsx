import { hindranceOf } from "../../../../packages/clients/connectors";
import type { Connector } from "../../../../packages/mcp-clients";
import { CopyButton } from "../../ui/copy";
import { Notice } from "../../ui/notice";
import { Notes } from "./notes";

/** A client that takes a URL alone: what to do with it, and whether its vendor can call this service at all. */
export function Connecting({ connector, url, onCopied }: { connector: Connector; url: string; onCopied: () => void }) {
  const hindrance = hindranceOf(url);
  return (
    <div className="fragment">
      {hindrance !== undefined && (
        <Notice title="This client cannot call your service">
          It calls from the internet over HTTPS, and {hindrance}. Ask an administrator for a public HTTPS URL, or choose
          a client that runs on your computer.
        </Notice>
      )}
      <p className="note">{connector.steps}</p>
      <div className="url">
        <code>{url}</code>
        <CopyButton text={url} what={`URL for ${connector.title}`} onCopied={onCopied} />
      </div>
      <Notes client={connector} />
    </div>
  );
}
