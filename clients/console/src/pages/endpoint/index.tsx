import { useQuery } from "@connectrpc/connect-query";
import { useQuery as useAnyQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ConnectionService } from "#api/auth/v1/connection_service_pb";
import { EndpointService } from "#api/catalogue/v1/endpoint_service_pb";
import { SETTINGS } from "../../service/settings";
import { Failure, Notice, Skeleton } from "../../ui/notice";
import { Card } from "./card";
import { FirstCall } from "./first-call";
import { Install } from "./install";
import { Packages } from "./packages";
import { isLive, type Server } from "./server";
import { keysIn, useWait, type Wait } from "./wait";

const LOOKED_MS = 15_000;

/** My Profile > MCP Endpoint. */
export function Page() {
  const settings = useAnyQuery(SETTINGS);
  const described = useQuery(EndpointService.method.describeEndpoints, {}, { refetchInterval: LOOKED_MS });
  const connections = useQuery(ConnectionService.method.listConnections, { pageSize: 100 });
  const isKeyless = connections.data !== undefined && keysIn(connections.data.connections).length === 0;
  const [wait, setWait] = useWait();
  const servers: Server[] = (described.data?.endpoints ?? []).map((endpoint) => ({
    endpoint,
    url: settings.data?.endpoints[endpoint.server] ?? "",
  }));
  const live = servers.filter(isLive);
  const awaitCall = (what: Pick<Wait, "server" | "keyId">): void => setWait({ ...what, startedAt: Date.now() });

  return (
    <>
      <div className="head">
        <div>
          <h1>MCP Endpoint</h1>
          <p>One server for each platform. Your client sees the tools that you may use, and acts as you.</p>
        </div>
      </div>
      {isKeyless && (
        <Notice
          title="You have no API key"
          action={
            <Link className="btn btn-primary" to={"/profile/keys" as never}>
              Go to API Keys
            </Link>
          }
        >
          Clients that cannot sign in by themselves need one. Create it first, then come back for the configuration.
        </Notice>
      )}
      {wait !== undefined && <FirstCall wait={wait} onChange={setWait} />}
      {described.error && (
        <Failure error={described.error} what="The endpoints" retry={() => void described.refetch()} />
      )}
      {described.isPending ? (
        <div className="cards">
          {[0, 1, 2, 3].map((n) => (
            <Skeleton key={n} what="an endpoint" className="card" />
          ))}
        </div>
      ) : (
        <div className="cards">
          {servers.map((server) => (
            <Card
              key={server.endpoint.server}
              server={server}
              isKeyless={isKeyless}
              onCopied={() => awaitCall({ server: server.endpoint.server })}
            />
          ))}
        </div>
      )}
      {live.length > 0 && <Packages servers={live} isKeyless={isKeyless} onDownloaded={awaitCall} />}
      {live.length > 0 && <Install servers={live} onCopied={() => awaitCall({})} />}
    </>
  );
}
