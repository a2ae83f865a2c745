import { useMutation } from "@connectrpc/connect-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { Switch } from "react-aria-components";
import { ApiKeyService } from "#api/auth/v1/api_key_service_pb";
import { ConnectionService } from "#api/auth/v1/connection_service_pb";
import { type BuildPackageResponse, PackageService } from "#api/catalogue/v1/package_service_pb";
import { onDay } from "../../format";
import { useRefresh } from "../../service/refresh";
import { writeSentenceOf } from "../../service/transport";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { Dialog } from "../../ui/dialog";
import { Notice } from "../../ui/notice";
import { FORMATS, type Format } from "./formats";
import { KeyInFile } from "./key-in-file";
import { type Narrowed, Narrowing, WHOLE } from "./narrowing";
import type { Server } from "./server";
import { WhichServer } from "./which-server";

/** Packages of the servers that are live. With several, the person says of which: there is no package of all. */
export function Packages({
  servers,
  isKeyless,
  onDownloaded,
}: {
  servers: readonly Server[];
  /** The person has no API key. */
  isKeyless: boolean;
  onDownloaded: (what: { server: string; keyId?: string | undefined }) => void;
}) {
  const [isOneClick, setOneClick] = useState(true);
  const [days, setDays] = useState("90");
  const [narrowed, setNarrowed] = useState<Narrowed>(WHOLE);
  const [asked, setAsked] = useState<Format>();
  const refresh = useRefresh(ApiKeyService.method.listApiKeys, ConnectionService.method.listConnections);
  const build = useMutation(PackageService.method.buildPackage, {
    onSuccess: (built, { server = "" }) => {
      save(built);
      setAsked(undefined);
      onDownloaded({ server, keyId: built.key?.id });
      return refresh();
    },
  });
  const only = servers.length === 1 ? servers[0]?.endpoint : undefined;
  const ask = ({ format, client }: Format, server: string, { toolsets, readOnly, tenant }: Narrowed): void => {
    const oneClick = isOneClick && client !== undefined;
    const expiry = oneClick ? { expireDays: Number(days) } : {};
    build.mutate({ server, format, oneClick, ...expiry, toolsets: [...toolsets], readOnly, tenant });
  };
  const key = { isOneClick, isKeyless, days, onDays: setDays };
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
      {only === undefined ? (
        <p className="note">
          {isOneClick ? "A new key is written into the file." : "No key is written into the file."}
        </p>
      ) : (
        <div className="note">
          <KeyInFile {...key} server={only.server} />
          <Narrowing endpoint={only} value={narrowed} onChange={setNarrowed} />
        </div>
      )}
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
            onPress={() => (only === undefined ? setAsked(one) : ask(one, only.server, narrowed))}
          >
            <Download size={15} aria-hidden />
            Download<span className="sr"> for {one.name}</span>
          </Button>
        </div>
      ))}
      <div role="status">{build.data && <Built built={build.data} />}</div>
      <Dialog isOpen={asked !== undefined} onClose={() => setAsked(undefined)}>
        {(close) =>
          asked && (
            <WhichServer
              format={asked}
              servers={servers}
              inFile={key}
              isPending={build.isPending}
              onChosen={(server, narrowing) => ask(asked, server, narrowing)}
              close={close}
            />
          )
        }
      </Dialog>
    </section>
  );
}

/** What was downloaded, with what somebody can check it by. */
function Built({ built: { fileName, sha256, key } }: { built: BuildPackageResponse }) {
  return (
    <div className="note built">
      <p>
        <b>{fileName}</b> is downloaded.
        {key && ` The key “${key.name}” is in it${key.expiresAt ? `, and expires on ${onDay(key.expiresAt)}` : ""}.`}
      </p>
      <div className="url">
        <code>SHA-256 {sha256}</code>
        <CopyButton text={sha256} what="SHA-256" />
      </div>
    </div>
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
