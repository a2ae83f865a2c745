import { useMutation } from "@connectrpc/connect-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { Heading, Label, Radio, RadioGroup, Switch } from "react-aria-components";
import { ApiKeyService } from "#api/auth/v1/api_key_service_pb";
import { type BuildPackageResponse, PackageFormat, PackageService } from "#api/catalogue/v1/package_service_pb";
import { onDay } from "../../format";
import { useRefresh } from "../../service/refresh";
import { writeSentenceOf } from "../../service/transport";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Notice } from "../../ui/notice";
import { tell } from "../../ui/toasts";
import type { Server } from "./server";

const FORMATS = [
  { format: PackageFormat.CLAUDE_CODE, name: "Claude Code", client: "Claude Code", says: "A plugin, as a zip." },
  {
    format: PackageFormat.MCPB,
    name: "Claude Desktop",
    client: "Claude Desktop",
    says: "A desktop extension, .mcpb: open it with the application.",
  },
  {
    format: PackageFormat.AGENT_PLUGIN,
    name: "Agent plugin",
    client: undefined,
    says: "For Copilot CLI, Codex, VS Code and Cursor. This format never carries a key.",
  },
] as const;
type Format = (typeof FORMATS)[number];

/** Packages of the servers that are live. With several, the person says of which: there is none of all. */
export function Packages({
  servers,
  hasKey,
  onDownloaded,
}: {
  servers: readonly Server[];
  hasKey: boolean;
  onDownloaded: () => void;
}) {
  const [isOneClick, setOneClick] = useState(true);
  const [asked, setAsked] = useState<Format>();
  const refresh = useRefresh(ApiKeyService.method.listApiKeys);
  const build = useMutation(PackageService.method.buildPackage, {
    onSuccess: (built) => {
      save(built);
      const until = built.key?.expiresAt && ` It ends on ${onDay(built.key.expiresAt)}.`;
      tell(`${built.fileName} is downloaded`, built.key && `The key “${built.key.name}” is in it.${until}`);
      setAsked(undefined);
      onDownloaded();
      return refresh();
    },
  });
  const ask = (format: Format, server: string): void =>
    build.mutate({ server, format: format.format, oneClick: isOneClick && format.client !== undefined });
  return (
    <section className="panel install" aria-labelledby="packages">
      <div className="head">
        <div>
          <h2 id="packages">Packages</h2>
          <p>The endpoint, and a skill that explains the tools that you have.</p>
        </div>
        <Switch className="switch" isSelected={isOneClick} onChange={setOneClick}>
          <span className="track" />
          One click: with a new key
        </Switch>
      </div>
      <p className="note">{keyInWords(isOneClick, hasKey)}</p>
      {build.error && (
        <Notice tone="error" title="The package was not built">
          {writeSentenceOf(build.error)}
        </Notice>
      )}
      {FORMATS.map((one) => (
        <div key={one.name} className="setting">
          <div>
            <b>{one.name}</b>
            <p>{one.says}</p>
          </div>
          <Button
            isPending={build.isPending}
            onPress={() => (servers.length === 1 ? ask(one, servers[0]?.endpoint.server ?? "") : setAsked(one))}
          >
            <Download size={15} aria-hidden />
            Download<span className="sr"> for {one.name}</span>
          </Button>
        </div>
      ))}
      <Dialog isOpen={asked !== undefined} onClose={() => setAsked(undefined)}>
        {(close) =>
          asked && (
            <WhichServer
              format={asked}
              servers={servers}
              isPending={build.isPending}
              onChosen={(server) => ask(asked, server)}
              close={close}
            />
          )
        }
      </Dialog>
    </section>
  );
}

function keyInWords(isOneClick: boolean, hasKey: boolean): string {
  if (isOneClick)
    return "A new key named after the client is written into the file, for this server alone. It ends after 90 days. Treat the file like a password.";
  return hasKey
    ? "No key is in the file: your client asks for one of yours."
    : "No key is in the file, and you have none: create one at API Keys before your client asks for it.";
}

function WhichServer({
  format,
  servers,
  isPending,
  onChosen,
  close,
}: {
  format: Format;
  servers: readonly Server[];
  isPending: boolean;
  onChosen: (server: string) => void;
  close: () => void;
}) {
  const [chosen, setChosen] = useState(servers[0]?.endpoint.server ?? "");
  return (
    <>
      <Heading slot="title">{format.name}: which server?</Heading>
      <RadioGroup value={chosen} onChange={setChosen} className="checks">
        <Label>One package is for one server.</Label>
        {servers.map(({ endpoint }) => (
          <Radio key={endpoint.server} value={endpoint.server} className="check">
            <span className="box round" />
            {endpoint.server}: {endpoint.title}, {endpoint.tools} {endpoint.tools === 1 ? "tool" : "tools"}
          </Radio>
        ))}
      </RadioGroup>
      <div className="actions">
        <Button onPress={close}>Cancel</Button>
        <Button look="primary" isPending={isPending} onPress={() => onChosen(chosen)}>
          Download
        </Button>
      </div>
    </>
  );
}

/** Hands a file to the browser. */
function save({ fileName, content }: BuildPackageResponse): void {
  const url = URL.createObjectURL(new Blob([new Uint8Array(content)]));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
