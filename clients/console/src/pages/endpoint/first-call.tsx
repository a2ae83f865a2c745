import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { LoaderCircle } from "lucide-react";
import { ConnectionService } from "#api/auth/v1/connection_service_pb";
import { StatusBadge } from "../../ui/badge";

const LOOKED_MS = 2_000;

/** Waits for a client to call after a configuration was copied, and says which did. */
export function FirstCall({ since }: { since: number }) {
  const { data } = useQuery(
    ConnectionService.method.listConnections,
    { pageSize: 100 },
    {
      staleTime: 0,
      refetchInterval: ({ state }) => (callerSince(state.data?.connections ?? [], since) ? false : LOOKED_MS),
    },
  );
  const found = callerSince(data?.connections ?? [], since);
  return (
    <div className="notice notice-wait" role="status">
      {found === undefined ? (
        <LoaderCircle size={18} aria-hidden className="turns" />
      ) : (
        <StatusBadge status="connected" />
      )}
      <div>
        <strong>{found === undefined ? "Waiting for the first call" : `“${found.name}” has connected`}</strong>
        <p>
          {found === undefined
            ? "Put the configuration in its place, set the key and restart the client: this line says when it calls."
            : "Its key works. You can close this page."}
        </p>
      </div>
    </div>
  );
}

function callerSince<C extends { lastUsedAt?: Parameters<typeof timestampDate>[0] | undefined }>(
  connections: readonly C[],
  since: number,
): C | undefined {
  return connections.find(({ lastUsedAt }) => lastUsedAt !== undefined && timestampDate(lastUsedAt).getTime() > since);
}
