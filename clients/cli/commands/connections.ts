import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Connection, ConnectionKind, ConnectionService } from "#proto/auth/v1/connection_service_pb.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";
import { UsageError } from "../failures.js";
import { pages } from "../pages.js";

/** Shows and ends what calls in people's names. */
export const connections: readonly Verb[] = [
  {
    verb: "list",
    doc: "List API keys and connected clients that are valid now, newest first.",
    flags: {
      user: { doc: "The user's e-mail address or id; your own connections if omitted." },
      everybody: { doc: "The connections of all users.", isSwitch: true },
    },
    columns: ["id", "kind", "name", "client", "server", "user", "last_used_at", "uses", "expires_at"],
    async run(session, { flags: { user, everybody } }) {
      if (user !== undefined && everybody !== undefined) throw new UsageError("give --user or --everybody");
      const client = clientOf(session, ConnectionService);
      const asked = {
        ...(user !== undefined && (user.includes("@") ? { userEmail: user } : { userId: user })),
        everybody: everybody !== undefined,
        pageSize: 100,
      };
      const found: object[] = [];
      for await (const page of pages((pageToken) => client.listConnections({ ...asked, pageToken }))) {
        found.push(...page.connections.map(toJson));
      }
      return { connections: found };
    },
  },
  {
    verb: "end",
    doc: "End a connection. When this returns, no process accepts it.",
    args: [{ name: "ID", doc: "The connection's id." }],
    async run(session, { args }) {
      await clientOf(session, ConnectionService).endConnection({ id: args.ID as string });
      return { id: args.ID, ended: true };
    },
  },
];

function toJson({ id, kind, name, client, clientHost, server, scopes, userEmail, uses, ...times }: Connection): object {
  return {
    id,
    kind: kind === ConnectionKind.GRANT ? "client" : "api_key",
    name,
    ...(client !== "" && { client, client_connected_at: timeOf(times.clientConnectedAt) }),
    ...(clientHost !== "" && { client_host: clientHost }),
    ...(server !== "" && { server }),
    scopes,
    user: userEmail,
    uses: Number(uses),
    created_at: timeOf(times.createdAt),
    expires_at: timeOf(times.expiresAt),
    last_used_at: timeOf(times.lastUsedAt),
  };
}

function timeOf(at: Timestamp | undefined): string | undefined {
  return at && timestampDate(at).toISOString();
}
