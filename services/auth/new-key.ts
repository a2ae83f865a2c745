import type { ConnectError } from "@connectrpc/connect";
import { v7 as uuidv7 } from "uuid";
import type { Call } from "../shared/rpc/call.js";
import { failedPrecondition, permissionDenied } from "../shared/rpc/errors.js";
import type { Context } from "./context.js";
import { ownKeyOf } from "./key-owner.js";
import type { ApiKeyRecord, UserRecord } from "./store.js";
import { hashSecret } from "./verification.js";

const MAX_KEYS = 200;

/**
 * Makes a key for a user. Its token is nowhere but in the answer.
 *
 * @throws ConnectError failed_precondition, where the user is disabled or has as many keys as may be.
 */
export async function makeKey(
  context: Context,
  owner: UserRecord,
  { name, scopes, expiresAt }: { name: string; scopes: string[] | null; expiresAt: Date | null },
): Promise<{ readonly key: ApiKeyRecord; readonly token: string }> {
  if (owner.account !== undefined)
    throw failedPrecondition(
      "a service account has no API keys: it signs in with its own keys (ExchangeClientAssertion)",
    );
  if (owner.disabled) throw failedPrecondition("the user is disabled: enable the user first");
  const { keyId, secret, token } = context.format.mint();
  const key: ApiKeyRecord = {
    _id: keyId,
    user_id: owner._id,
    serial: uuidv7(),
    name,
    ...(await context.hashing.run(() => hashSecret(secret))),
    scopes,
    created_at: new Date(),
    expires_at: expiresAt,
    revoked_at: null,
    last_used_at: null,
    uses: 0,
  };
  await context.store.keys.insertOne(key);
  await checkStillFits(context, owner, keyId);
  return { key, token };
}

/**
 * A key makes none that outlives it, and one that was narrowed makes none
 * without the scope `account`: what was given out for less would otherwise make
 * itself a key for good.
 *
 * @throws ConnectError permission_denied for such a one.
 */
export async function withinOwnLife({ store }: Context, asked: Date | null, { caller }: Call): Promise<Date | null> {
  const own = await ownKeyOf(store, caller);
  if (own === null) return asked;
  if (own.scopes !== null && !own.scopes.includes("account")) {
    throw permissionDenied(
      "this API key has limited scopes: to create or change keys, use a key that has the scope account",
    );
  }
  if (own.expires_at === null || (asked !== null && asked <= own.expires_at)) return asked;
  return own.expires_at;
}

/**
 * The name wanted, or with a number where the user has a key of that name.
 *
 * @throws ConnectError failed_precondition, where the user has as many keys as may be.
 */
export async function freeNameOf({ store }: Context, owner: UserRecord, wanted: string): Promise<string> {
  const live = await store.keys.find({ user_id: owner._id, revoked_at: null }).toArray();
  if (live.length >= MAX_KEYS) throw tooMany();
  const taken = new Set(live.map(({ name }) => name));
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted} (${number})`;
  return name;
}

/** Takes a key back where others were made at the same time and there are too many now; its token is nobody's yet. */
async function checkStillFits({ store }: Context, owner: UserRecord, keyId: string): Promise<void> {
  const live = await store.keys.countDocuments({ user_id: owner._id, revoked_at: null });
  if (live <= MAX_KEYS) return;
  await store.keys.deleteOne({ _id: keyId });
  throw tooMany();
}

function tooMany(): ConnectError {
  return failedPrecondition(`the user already has ${MAX_KEYS} API keys, the maximum: revoke one first`);
}
