import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Braces, Crosshair, Globe2, type LucideIcon, Scale, SquareStack } from "lucide-react";
import { useState } from "react";
import { generic } from "../../../../packages/clients/others";
import { entryOf } from "../../../../packages/mcp-clients";
import { SETTINGS } from "../../service/settings";
import { StatusBadge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { ByHand } from "../../ui/by-hand";
import { CopyButton, copy } from "../../ui/copy";
import { tell } from "../../ui/toasts";
import { hindranceOf, isLive, type Server, statusOf } from "./server";

const ICONS: Readonly<Record<string, LucideIcon>> = { cti: Globe2, aev: Crosshair, grc: Scale };

/** One server: its address, its status, and how many of its tools the person has. */
export function Card({
  server,
  isKeyless,
  onCopied,
}: {
  server: Server;
  /** The person has no API key. */
  isKeyless: boolean;
  onCopied: () => void;
}) {
  const [refused, setRefused] = useState<string>();
  const { endpoint, url } = server;
  const { server: name, title, platform, tools } = endpoint;
  const Icon = ICONS[name] ?? SquareStack;
  const hindrance = hindranceOf(server);
  const variable = useQuery(SETTINGS).data?.api_key_variable ?? "";
  const isUsable = isLive(server) && url !== "" && variable !== "";
  async function copyConfig() {
    const entry = { ...entryOf("", name), url };
    const text = generic.config([entry], { variable });
    if (!(await copy(text))) return setRefused(text);
    tell("Configuration copied", `Set ${variable} to one of your keys, then restart the client.`);
    onCopied();
  }
  return (
    <article className="card" aria-labelledby={`card-${name}`}>
      <header>
        <span className="card-icon">
          <Icon size={18} aria-hidden />
        </span>
        <div>
          <h2 id={`card-${name}`}>{`${title.charAt(0).toUpperCase()}${title.slice(1)}`}</h2>
          <p>{platform || name}</p>
        </div>
        <StatusBadge status={statusOf(server)} />
      </header>
      <div className="url">
        <code>{url}</code>
        <CopyButton text={url} what={`${name} URL`} />
      </div>
      {isUsable && isKeyless && (
        <p className="keyless">
          Most clients need an API key, and you have none: create one at{" "}
          <Link to={"/profile/keys" as never}>API Keys</Link>.
        </p>
      )}
      <footer>
        <span>
          {hindrance || (
            <>
              <b>{tools}</b> {tools === 1 ? "tool" : "tools"} for you
            </>
          )}
        </span>
        <Button isDisabled={!isUsable} onPress={() => void copyConfig()}>
          <Braces size={15} aria-hidden />
          Config<span className="sr"> of {name}</span>
        </Button>
      </footer>
      <ByHand
        text={refused}
        what={`Configuration of ${name}`}
        onClose={() => {
          setRefused(undefined);
          onCopied();
        }}
      />
    </article>
  );
}
