import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";
import { v7 as uuidv7 } from "uuid";
import type { CreateApiKeyRequest, CreateApiKeyResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument, permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { ownerOf } from "../key-owner.js";
import { apiKeyOf } from "../records.js";
import { scopesOf, scopesOfNewKey } from "../scopes.js";
import type { ApiKeyRecord, UserRecord } from "../store.js";
import { hashSecret } from "../verification.js";

const MAX_KEYS = 200;

/** Creates an API key; its token is in this answer alone. */
export async function createApiKey(
  context: Context,
  request: CreateApiKeyRequest,
  call: Call,
): Promise<MessageInitShape<typeof CreateApiKeyResponseSchema>> {
  const owner = await ownerOf(context, request, call);
  if (owner.disabled) throw failedPrecondition("the user is disabled: enable the user first");
  const ceiling = owner._id === call.caller.id ? call.caller.scopes : scopesOf(owner);
  const scopes = scopesOfNewKey(request.scopes, owner, ceiling);
  const asked = request.expiresAt === undefined ? null : timestampDate(request.expiresAt);
  if (asked !== null && asked.getTime() <= Date.now()) throw invalidArgument("expires_at is in the past");
  const expiresAt = await withinOwnLife(context, asked, call);
  const name = await freeNameOf(context, owner, request.name);

  const { keyId, secret, token } = context.format.mint();
  const key: ApiKeyRecord = {
    _id: keyId,
    user_id: owner._id,
    serial: uuidv7(),
    name,
    ...(await context.hashing.run(() => hashSecret(secret))),
    scopes,
    term: context.fence.epoch,
    created_at: new Date(),
    expires_at: expiresAt,
    revoked_at: null,
    last_used_at: null,
    uses: 0,
  };
  await context.store.keys.insertOne(key);
  await checkStillFits(context, owner, keyId);
  return { key: apiKeyOf(key, owner), token };
}

/**
 * A key makes none that outlives it, and one that was narrowed makes none
 * without the scope `account`: what was given out for less would otherwise make
 * itself a key for good.
 */
async function withinOwnLife({ store }: Context, asked: Date | null, { caller }: Call): Promise<Date | null> {
  const own = caller.keyId === "" ? null : await store.keys.findOne({ _id: caller.keyId });
  if (own === null) return asked;
  if (own.scopes !== null && !own.scopes.includes("account")) {
    throw permissionDenied(
      "this API key was narrowed to other scopes: make keys with one that holds the scope account",
    );
  }
  if (own.expires_at === null || (asked !== null && asked <= own.expires_at)) return asked;
  return own.expires_at;
}

/** The name wanted, or with a number where the user has a key of that name. */
async function freeNameOf({ store }: Context, owner: UserRecord, wanted: string): Promise<string> {
  const live = await store.keys.find({ user_id: owner._id, revoked_at: null }).toArray();
  if (live.length >= MAX_KEYS) throw tooMany();
  const taken = new Set(live.map(({ name }) => name));
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted} (${number})`;
  return name;
}

/** Takes a key back where others were made at the same time and there are too many now; its token is nobody's yet. */
async function checkStillFits({ store, fence }: Context, owner: UserRecord, keyId: string): Promise<void> {
  const live = await store.keys.countDocuments({ user_id: owner._id, revoked_at: null });
  if (live <= MAX_KEYS) return;
  await store.keys.deleteOne({ _id: keyId, ...fence.unclaimed });
  throw tooMany();
}

function tooMany(): ConnectError {
  return failedPrecondition(`a user can have ${MAX_KEYS} API keys: revoke some first`);
}
