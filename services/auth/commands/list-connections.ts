import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ConnectionKind,
  type ConnectionSchema,
  type ListConnectionsRequest,
  type ListConnectionsResponseSchema,
} from "#proto/auth/v1/connection_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { permissionDenied } from "../../shared/rpc/errors.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import type { Context } from "../context.js";
import { emailOf } from "../identity.js";
import { narrowedKeyOf, ownerOf } from "../key-owner.js";
import type { ApiKeyRecord, GrantRecord } from "../store.js";

const PAGE_SIZE = 25;

/** Lists what calls in somebody's name: keys and grants together, the newest first; a narrowed key is shown itself. */
export async function listConnections(
  context: Context,
  request: ListConnectionsRequest,
  call: Call,
): Promise<MessageInitShape<typeof ListConnectionsResponseSchema>> {
  const { store } = context;
  const isAdmin = call.caller.scopes.has("admin");
  if (request.everybody && !isAdmin) throw permissionDenied("only administrators may list everybody's connections");
  const narrowed = isAdmin ? undefined : await narrowedKeyOf(store, call.caller);
  if (narrowed !== undefined) return { connections: [connectionOf(narrowed, call.caller.email)] };
  const whose = request.everybody ? {} : { user_id: (await ownerOf(context, request, call))._id };
  const size = request.pageSize === 0 ? PAGE_SIZE : request.pageSize;
  const after = positionOf(request.pageToken, request);
  const begun = after === undefined ? {} : { serial: { $lt: after } };
  const live = { ...whose, ...begun, revoked_at: null };
  const now = new Date();
  const some = { sort: { serial: -1 }, limit: size + 1 } as const;
  const [keys, grants] = await Promise.all([
    store.keys.find({ ...live, $or: [{ expires_at: null }, { expires_at: { $gt: now } }] }, some).toArray(),
    store.grants.find({ ...live, expires_at: { $gt: now } }, some).toArray(),
  ]);
  const found = [...keys, ...grants].sort((a, b) => (a.serial < b.serial ? 1 : -1));
  const shown = found.slice(0, size);
  const emails = await emailsOf(context, shown);
  const last = shown.at(-1);
  return {
    connections: shown.map((one) => connectionOf(one, emails.get(one.user_id) ?? "")),
    ...(found.length > size && last !== undefined && { nextPageToken: pageTokenOf(last.serial, request) }),
  };
}

async function emailsOf(
  { store }: Context,
  found: readonly { readonly user_id: string }[],
): Promise<Map<string, string>> {
  const ids = [...new Set(found.map(({ user_id }) => user_id))];
  const users = ids.length === 0 ? [] : await store.users.find({ _id: { $in: ids } }).toArray();
  return new Map(users.map((user) => [user._id, emailOf(user)]));
}

function connectionOf(one: ApiKeyRecord | GrantRecord, userEmail: string): MessageInitShape<typeof ConnectionSchema> {
  return {
    id: one._id,
    ...("client_id" in one
      ? {
          kind: ConnectionKind.GRANT,
          name: one.client_name,
          clientHost: one.client_host,
          server: one.server,
          scopes: one.scopes,
        }
      : { kind: ConnectionKind.API_KEY, name: one.name, scopes: one.scopes ?? [] }),
    userId: one.user_id,
    userEmail,
    createdAt: timestampFromDate(one.created_at),
    ...(one.expires_at !== null && { expiresAt: timestampFromDate(one.expires_at) }),
    ...(one.last_used_at !== null && { lastUsedAt: timestampFromDate(one.last_used_at) }),
    uses: BigInt(one.uses),
    ...(one.client !== undefined && { client: one.client }),
    ...(one.client_connected_at !== undefined && { clientConnectedAt: timestampFromDate(one.client_connected_at) }),
  };
}
