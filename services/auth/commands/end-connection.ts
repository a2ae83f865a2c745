import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EndConnectionRequest, EndConnectionResponseSchema } from "#proto/auth/v1/connection_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { notFound, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { narrowedKeyOf } from "../key-owner.js";
import { endGrant } from "../oauth/grants.js";
import { revokeApiKey } from "./revoke-api-key.js";

/** Ends a grant, or revokes a key; answers when no process accepts it any more. */
export async function endConnection(
  context: Context,
  { id }: EndConnectionRequest,
  call: Call,
): Promise<MessageInitShape<typeof EndConnectionResponseSchema>> {
  const { caller } = call;
  const isGrant = (await context.store.grants.findOne({ _id: id })) !== null;
  if (isGrant && (await narrowedKeyOf(context.store, caller))) {
    throw permissionDenied("this API key has limited scopes: to end connections, use a key that has the scope account");
  }
  const mine = caller.scopes.has("admin") ? {} : { user_id: caller.id };
  const ended = isGrant ? await endGrant(context, id, mine) : await revokeApiKey(context, { id }, call);
  if (ended === undefined) throw notFound(`no connection that you can manage has the id ${JSON.stringify(id)}`);
  const { acknowledged = 0, expired = 0 } = ended;
  return { acknowledged, expired };
}
