import { createHash, timingSafeEqual } from "node:crypto";
import { permissionDenied, unauthenticated } from "../shared/rpc/errors.js";
import { isDuplicateKey } from "../shared/store/store.js";
import type { Context } from "./context.js";
import type { PlatformDoc, RegistrationTokenDoc } from "./store.js";

/** A platform as it says of itself. */
export interface Registrant {
  readonly server: string;
  /** "" where it says none. */
  readonly platformId: string;
  readonly url: string;
}

/** What is kept of a registration token; its 256 random bits need no slow hash. */
export const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** Whether a platform is the one of a record: by their ids, or by their URLs where one of them has none. */
export function isSamePlatform(
  held: { readonly platform_id: string; readonly url: string },
  given: Registrant,
): boolean {
  if (held.platform_id !== "" && given.platformId !== "") return held.platform_id === given.platformId;
  return held.url === given.url;
}

/**
 * Finds the record of a token: one made here, or that of the configured one,
 * which is written down when it is first presented.
 *
 * @throws ConnectError unauthenticated, where nobody knows it.
 */
export async function registrationTokenOf(
  { store, registrationToken }: Context,
  token: string,
): Promise<RegistrationTokenDoc> {
  const digest = digestOf(token);
  const configured = registrationToken !== undefined && isEqual(digest, digestOf(registrationToken));
  const found = await store.registrationTokens.findOne({ digest });
  // What was configured once is not known any more.
  if (found !== null && (configured || !found._id.startsWith(CONFIGURED))) return found;
  if (!configured) {
    throw unauthenticated(
      "the registration token is not known; an administrator makes one with `platforms create-token`",
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
      `this registration token is for a ${server} platform; an administrator makes one for this platform with \`platforms create-token --server ${given.server}\``,
    );
  }
  if (platform !== undefined && !isSamePlatform(platform, given)) {
    throw permissionDenied(
      `this registration token is another ${given.server} platform's, which used it first; an administrator makes one for this platform with \`platforms create-token --server ${given.server}\``,
    );
  }
}

/**
 * Makes a token that nobody has used the platform's own, and no other's.
 *
 * @throws ConnectError permission_denied, where another one was faster.
 */
export async function bindToken({ store }: Context, token: RegistrationTokenDoc, given: Registrant): Promise<void> {
  if (token.platform !== undefined) return;
  const { server, platformId, url } = given;
  const { matchedCount } = await store.registrationTokens.updateOne(
    { _id: token._id, platform: { $exists: false } },
    { $set: { server, platform: { platform_id: platformId, url } } },
  );
  if (matchedCount > 0) return;
  const bound = await store.registrationTokens.findOne({ _id: token._id });
  if (bound === null)
    throw unauthenticated("the registration token was taken back; an administrator makes another one");
  checkToken(bound, given);
}

/**
 * Frees the tokens that are bound to a platform for another one of its server.
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
      { $unset: { platform: "", ...(token._id.startsWith(CONFIGURED) && { server: "" as const }) } },
    );
    freed += modifiedCount;
  }
  return freed;
}

/** What the ids of configured tokens begin with. */
const CONFIGURED = "configured-";

function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
