import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListApiKeysRequest, ListApiKeysResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import { listPage } from "../../shared/store/page.js";
import type { Context } from "../context.js";
import { narrowedKeyOf, ownerOf } from "../key-owner.js";
import { apiKeyOf } from "../records.js";

const PAGE_SIZE = 25;

/** Lists the keys of the caller, or for administrators of anybody, newest first; a narrowed key is shown itself. */
export async function listApiKeys(
  context: Context,
  request: ListApiKeysRequest,
  call: Call,
): Promise<MessageInitShape<typeof ListApiKeysResponseSchema>> {
  const owner = await ownerOf(context, request, call);
  const narrowed = call.caller.scopes.has("admin") ? undefined : await narrowedKeyOf(context.store, call.caller);
  if (narrowed !== undefined) return { keys: [apiKeyOf(narrowed, owner)], totalSize: 1 };
  const { items, end, total } = await listPage(context.store.keys, {
    seen: { user_id: owner._id },
    wanted: request.includeRevoked ? undefined : { revoked_at: null },
    index: "api_keys_user",
    order: "serial",
    direction: -1,
    after: positionOf(request.pageToken, request),
    size: request.pageSize === 0 ? PAGE_SIZE : request.pageSize,
  });
  return {
    keys: items.map((key) => apiKeyOf(key, owner)),
    ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
    ...(total !== undefined && { totalSize: total }),
  };
}
