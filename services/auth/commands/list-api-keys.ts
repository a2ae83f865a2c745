import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListApiKeysRequest, ListApiKeysResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { narrowedKeyOf, ownerOf } from "../key-owner.js";
import { pageOf } from "../page.js";
import { apiKeyOf } from "../records.js";

/** Lists the keys of the caller, or for administrators of anybody, newest first; a narrowed key is shown itself. */
export async function listApiKeys(
  context: Context,
  request: ListApiKeysRequest,
  call: Call,
): Promise<MessageInitShape<typeof ListApiKeysResponseSchema>> {
  const owner = await ownerOf(context, request, call);
  const narrowed = call.caller.scopes.has("admin") ? undefined : await narrowedKeyOf(context.store, call.caller);
  const filter = {
    user_id: owner._id,
    ...(narrowed !== undefined && { _id: narrowed._id }),
    ...(!request.includeRevoked && { revoked_at: null }),
  };
  const { items, ...paging } = await pageOf(context.store.keys, filter, request, { field: "serial", direction: -1 });
  return { keys: items.map((key) => apiKeyOf(key, owner)), ...paging };
}
