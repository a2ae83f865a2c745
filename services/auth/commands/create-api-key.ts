import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CreateApiKeyRequest, CreateApiKeyResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { dateOf } from "../../shared/dates.js";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { ownerOf } from "../key-owner.js";
import { freeNameOf, makeKey, withinOwnLife } from "../new-key.js";
import { apiKeyOf } from "../records.js";
import { scopesOf, scopesOfNewKey } from "../scopes.js";

/** Creates an API key; its token is in this answer alone. */
export async function createApiKey(
  context: Context,
  request: CreateApiKeyRequest,
  call: Call,
): Promise<MessageInitShape<typeof CreateApiKeyResponseSchema>> {
  const owner = await ownerOf(context, request, call);
  const ceiling = owner._id === call.caller.id ? call.caller.scopes : scopesOf(owner);
  const scopes = scopesOfNewKey(request.scopes, owner, ceiling);
  const asked = request.expiresAt === undefined ? null : dateOf(request.expiresAt);
  if (asked !== null && asked.getTime() <= Date.now()) throw invalidArgument("expires_at is in the past");
  const expiresAt = await withinOwnLife(context, asked, call);
  const name = await freeNameOf(context, owner, request.name);
  const { key, token } = await makeKey(context, owner, { name, scopes, expiresAt });
  return { key: apiKeyOf(key, owner), token };
}
