import { createHash, timingSafeEqual } from "node:crypto";
import { permissionDenied, unauthenticated } from "../shared/rpc/errors.js";
import { isDuplicateKey } from "../shared/store/store.js";
import type { Context } from "./context.js";
import { isSamePlatform, type Registrant } from "./same-platform.js";
import type { PlatformDoc, RegistrationTokenDoc } from "./store.js";

/** How long a token that nobody uses lasts, in days, if nothing else is said. */
export const EXPIRE_DAYS = 30;

/** What is kept of a registration token; its 256 random bits need no slow hash. */
export const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** When a token that nobody uses ends, if it begins to wait now. */
export const expiryAfter = (days: number, from = new Date()): Date => new Date(from.getTime() + days * 86_400_000);

/** When a token ends; undefined for one that is a platform's own, or of the configuration. */
export function expiryOf({ _id, platform, expires_at, created_at }: RegistrationTokenDoc): Date | undefined {
  if (platform !== undefined || isConfigured(_id)) return undefined;
  // Those that were made before tokens ended have no such field.
  return expires_at ?? expiryAfter(EXPIRE_DAYS, created_at);
}

/**
 * Finds the record of a token: one made here, or that of the configured one,
 * which is written down when it is first presented.
 *
 * @throws ConnectError unauthenticated, for one that is not known or has expired.
 */
export async function registrationTokenOf(
  { store, registrationToken }: Context,
  token: string,
): Promise<RegistrationTokenDoc> {
  const digest = digestOf(token);
  const configured = registrationToken !== undefined && isEqual(digest, digestOf(registrationToken));
  const found = await store.registrationTokens.findOne({ digest });
  // A token that was configured once is not known any more.
  if (found !== null && (configured || !isConfigured(found._id))) {
    const end = expiryOf(found);
    if (end === undefined || end.getTime() > Date.now()) return found;
    throw unauthenticated(
      `the registration token expired at ${end.toISOString()}, before a platform used it: ask an administrator for a new one (\`platforms create-token\`)`,
    );
  }
  if (!configured) {
    throw unauthenticated(
      "the service does not know this registration token: ask an administrator for one (`platforms create-token`)",
    );
  }
  const made = { _id: `${CONFIGURED}${digest}`, name: "REGISTRATION_TOKEN", digest, created_at: new Date() };
  await store.registrationTokens.insertOne(made).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
  return made;
}

/**
 * Checks that a token is this platform's, or nobody's yet.
 *
 * @throws ConnectError permission_denied that says whose it is.
 */
export function checkToken(token: RegistrationTokenDoc, given: Registrant): void {
  const { server, platform } = token;
  if (server !== undefined && server !== given.server) {
    throw permissionDenied(
      `this registration token is for a ${server} platform: ask an administrator for one for this platform (\`platforms create-token --server ${given.server}\`)`,
    );
  }
  if (platform !== undefined && !isSamePlatform(platform, given)) throw ofAnother(given);
}

/** The token is another platform's. */
export function ofAnother({ server }: Registrant): Error {
  return permissionDenied(
    `another ${server} platform already uses this registration token: ask an administrator for one for this platform (\`platforms create-token --server ${server}\`)`,
  );
}

/**
 * Makes a token that nobody has used the platform's own, and no other's.
 *
 * @throws ConnectError permission_denied, if another platform was faster; unauthenticated, if the token was revoked.
 */
export async function bindToken({ store }: Context, token: RegistrationTokenDoc, given: Registrant): Promise<void> {
  const { server, platformId, url } = given;
  const { matchedCount } = await store.registrationTokens.updateOne(
    { _id: token._id, platform: { $exists: false } },
    {
      $set: { server, platform: { platform_id: platformId, url }, last_used_at: new Date() },
      $unset: { forgotten: "", successor_of: "" },
    },
  );
  if (matchedCount > 0) return;
  const bound = await store.registrationTokens.findOne({ _id: token._id });
  if (bound === null) throw revoked();
  checkToken(bound, given);
}

/** Takes back what `bindToken` did, if the platform could not register. */
export async function unbindToken({ store }: Context, token: RegistrationTokenDoc, given: Registrant): Promise<void> {
  if (token.platform !== undefined) return;
  const { forgotten, successor_of, server } = token;
  await store.registrationTokens.updateOne(
    { _id: token._id, "platform.url": given.url },
    {
      $unset: { platform: "", ...(server === undefined && { server: "" as const }) },
      $set: { ...(forgotten && { forgotten }), ...(successor_of && { successor_of }) },
    },
  );
}

/**
 * Notes that a platform used its token, and where it is now.
 *
 * @throws ConnectError unauthenticated, if the token was revoked meanwhile.
 */
export async function touchToken(
  { store }: Context,
  { _id }: RegistrationTokenDoc,
  platform: NonNullable<RegistrationTokenDoc["platform"]>,
): Promise<void> {
  const { matchedCount } = await store.registrationTokens.updateOne(
    { _id },
    { $set: { last_used_at: new Date(), platform } },
  );
  if (matchedCount === 0) throw revoked();
}

/**
 * Frees the tokens that are bound to a platform for another one of its server. The platform's id and address stay
 * theirs until they are used elsewhere or revoked.
 *
 * @returns how many.
 */
export async function freeTokens({ store }: Pick<Context, "store">, platform: PlatformDoc): Promise<number> {
  const { server, platform_id: platformId, url } = platform;
  let freed = 0;
  for await (const token of store.registrationTokens.find({ server })) {
    if (token.platform === undefined || !isSamePlatform(token.platform, { server, platformId, url })) continue;
    // A configured token is of whichever server's platform uses it first.
    const { modifiedCount } = await store.registrationTokens.updateOne(
      { _id: token._id },
      {
        $unset: { platform: "", ...(isConfigured(token._id) && { server: "" as const }) },
        $set: { forgotten: { server, platform_id: platformId, url }, expires_at: expiryAfter(EXPIRE_DAYS) },
      },
    );
    freed += modifiedCount;
  }
  return freed;
}

/** Whether a token is that of the configuration, by its id. */
export const isConfigured = (id: string): boolean => id.startsWith(CONFIGURED);

/** Whether a token is one that the configuration had before, and that nobody can present now. */
export function isUnset({ registrationToken }: Context, id: string): boolean {
  return isConfigured(id) && (registrationToken === undefined || id !== `${CONFIGURED}${digestOf(registrationToken)}`);
}

/** What the ids of configured tokens begin with. */
const CONFIGURED = "configured-";

function revoked(): Error {
  return unauthenticated(
    "the registration token was revoked: ask an administrator for a new one (`platforms create-token`)",
  );
}

function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
