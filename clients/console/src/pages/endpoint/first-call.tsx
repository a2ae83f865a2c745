import { callUnaryMethod } from "@connectrpc/connect-query";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LoaderCircle } from "lucide-react";
import { useEffect, useState } from "react";
import { type Connection, ConnectionKind, ConnectionService } from "#api/auth/v1/connection_service_pb";
import { ago } from "../../format";
import { SETTINGS } from "../../service/settings";
import { transport } from "../../service/transport";
import { StatusBadge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Choice } from "../../ui/choice";
import { awaited, beforeOf, connectedSince, type Found, keysIn, type Wait } from "./wait";

const LOOKED_MS = 2_000;
/** From then on a client that does not call has a reason that the person can look for. */
const OVERDUE_MS = 120_000;

/** Waits for a client to connect after a configuration was copied or a package downloaded, and says which did. */
export function FirstCall({ wait, onChange }: { wait: Wait; onChange: (wait: Wait | undefined) => void }) {
  const isOverdue = useOverdue(wait.startedAt);
  const { data } = useQuery({
    queryKey: ["first call", wait.startedAt],
    queryFn: async ({ signal }) => {
      const { listConnections } = ConnectionService.method;
      const page = await callUnaryMethod(transport, listConnections, { pageSize: 100 }, { signal });
      if (wait.before === undefined) onChange({ ...wait, before: beforeOf(page.connections, wait.keyId) });
      return page.connections;
    },
    refetchInterval: ({ state }) => (connectedSince(wait, state.data ?? [])?.client ? false : LOOKED_MS),
  });
  const variable = useQuery(SETTINGS).data?.api_key_variable ?? "the variable of the key";
  const known = data ?? [];
  const found = connectedSince(wait, known);
  const key = awaited(wait, known);
  return (
    <section className="notice notice-wait" aria-label="The first call">
      {found === undefined ? (
        <LoaderCircle size={18} aria-hidden className="turns" />
      ) : (
        <StatusBadge status="connected" />
      )}
      <div>
        <div role="status">
          <strong>{found === undefined ? "Waiting for the first call" : `${nameOf(found)} has connected`}</strong>
          <p>{found === undefined ? nextStep(wait, variable) : credentialOf(found)}</p>
        </div>
        {found === undefined && wait.keyId === undefined && data !== undefined && (
          <WhichKey
            keys={keysIn(known)}
            value={key}
            before={wait.before}
            onChange={(chosen) => onChange({ ...wait, chosen })}
          />
        )}
        {found === undefined && isOverdue && <Overdue isPacked={wait.keyId !== undefined} variable={variable} />}
      </div>
      <Button onPress={() => onChange(undefined)}>{found === undefined ? "Stop waiting" : "Close"}</Button>
    </section>
  );
}

function WhichKey({
  keys,
  value,
  before,
  onChange,
}: {
  keys: readonly Connection[];
  value: Connection | undefined;
  before: Wait["before"];
  onChange: (id: string) => void;
}) {
  if (value === undefined)
    return (
      <p>
        You have no API key: create one at <Link to={"/profile/keys" as never}>API Keys</Link>. A client that signs you
        in needs none.
      </p>
    );
  const wasUsed = (before?.[value.id]?.uses ?? 0) > 0;
  return (
    <>
      <Choice
        label="The key that the client uses"
        value={value.id}
        items={keys.map((one) => ({
          id: one.id,
          name: `${one.name}, ${one.lastUsedAt === undefined ? "never used" : `used ${ago(one.lastUsedAt)}`}`,
        }))}
        onChange={onChange}
      />
      <p>
        {wasUsed && "A client uses this key already: only a client that starts from now on counts. "}
        Give each client <Link to={"/profile/keys" as never}>a key of its own</Link>. A client that signs you in counts
        too.
      </p>
    </>
  );
}

function Overdue({ isPacked, variable }: { isPacked: boolean; variable: string }) {
  return (
    <div role="status">
      <p>No client has called yet. Check these:</p>
      <ul>
        <li>
          {isPacked
            ? "The file is installed, and the client has enabled it."
            : `${variable} is set in the environment that the client starts in. An application of the desktop does not read the profile of your shell.`}
        </li>
        <li>You restarted the client after the change.</li>
        <li>
          The client's log of its MCP servers has no error. If the service refuses a key, it answers 401 with the
          reason. Administrators see calls with revoked and expired keys in Settings &gt; Audit.
        </li>
      </ul>
    </div>
  );
}

function useOverdue(startedAt: number): boolean {
  const [now, setNow] = useState(Date.now);
  const left = startedAt + OVERDUE_MS - now;
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setNow(Date.now()), left);
    return () => clearTimeout(timer);
  }, [left]);
  return left <= 0;
}

/** What the client says of itself; nobody has verified it. */
function nameOf({ client }: Connection): string {
  return client || "A client that gives no name";
}

function credentialOf({ kind, name }: NonNullable<Found>): string {
  return kind === ConnectionKind.GRANT
    ? `It signed you in as “${name}”. See Connections.`
    : `It uses the key “${name}”. See Connections.`;
}

function nextStep({ keyId }: Wait, variable: string): string {
  return keyId === undefined
    ? `Put the configuration in its place, set ${variable} and restart the client.`
    : "Install the file in the client.";
}
