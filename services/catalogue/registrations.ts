import { createHash, randomBytes } from "node:crypto";
import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { platformUrlProblem } from "../shared/outgoing/named-url.js";
import { refusalNow } from "../shared/outgoing/refusal-now.js";
import { aborted, failedPrecondition, invalidArgument, permissionDenied } from "../shared/rpc/errors.js";
import { isDuplicateKey } from "../shared/store/store.js";
import type { Context } from "./context.js";
import { bindToken, checkToken, isUnset, ofAnother, touchToken, unbindToken } from "./registration-token.js";
import { idOf, isClaimed, isSameAddress, isSamePlatform, type Registrant } from "./same-platform.js";
import type { PlatformDoc, RegistrationTokenDoc } from "./store.js";

/** What a registration says beside who it is. */
export type Said = Required<Pick<PlatformDoc, "title" | "version" | "last_seen_at">>;

/**
 * Writes down that a platform registered, for the token that it presented. A platform that registered is changed by its
 * own token alone: the condition is in the filter of the write. Returns when every process knows of a new address.
 */
export async function register(
  context: Context,
  token: RegistrationTokenDoc,
  given: Registrant,
  said: Said,
): Promise<void> {
  checkToken(token, given);
  const { server } = given;
  const registered = await registeredOf(context, server);
  const own = ownOf(token, registered);
  if (own === undefined) await registerFirst(context, token, given, { said, registered });
  else await registerAgain(context, token, given, { said, own, registered });
}

/** The platforms of a server that registered themselves. */
async function registeredOf({ store }: Context, server: string): Promise<PlatformDoc[]> {
  return store.platforms.find({ server, last_seen_at: { $exists: true } }).toArray();
}

/** The record that a token may change. */
function ownOf(token: RegistrationTokenDoc, registered: readonly PlatformDoc[]): PlatformDoc | undefined {
  const { _id, server = "", platform, successor_of } = token;
  const isOwn = (doc: PlatformDoc): boolean =>
    doc.token === _id || (successor_of !== undefined && doc._id === successor_of);
  // A record that was there before records named their token is that of the token which its platform has used.
  const isOld = (doc: PlatformDoc): boolean =>
    doc.token === undefined &&
    platform !== undefined &&
    isSamePlatform(doc, { server, platformId: platform.platform_id, url: platform.url });
  return registered.find(isOwn) ?? registered.find(isOld);
}

interface First {
  readonly said: Said;
  readonly registered: readonly PlatformDoc[];
}

async function registerFirst(
  context: Context,
  token: RegistrationTokenDoc,
  given: Registrant,
  { said, registered }: First,
): Promise<void> {
  const { store, log } = context;
  const { server, platformId, url } = given;
  await checkUnclaimed(context, token, given, registered);
  await checkAddress(context, "platform_url", url);
  await bindToken(context, token, given);
  const usual = recordId(given);
  const _id = registered.some((doc) => doc._id === usual) ? `${server}-${randomBytes(6).toString("hex")}` : usual;
  const made = { _id, server, url, platform_id: platformId, token: token._id, registered_at: new Date(), ...said };
  try {
    await store.platforms.insertOne(made);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const faster = await store.platforms.findOne({ _id });
    // The same platform registered twice at once: this is its heartbeat.
    if (faster?.token === token._id) return;
    await unbindToken(context, token, given);
    throw claimed(given);
  }
  // Another one may have claimed the same address meanwhile: of two, none stays.
  const now = (await registeredOf(context, server)).filter((doc) => doc._id !== _id);
  if (now.some((doc) => isClaimed(doc, given))) {
    await store.platforms.deleteOne({ _id, token: token._id });
    await unbindToken(context, token, given);
    throw claimed(given);
  }
  log.info({ server, platform: _id, url, token: token._id }, "a platform registered");
  await publishPlatform(context, server);
}

async function registerAgain(
  context: Context,
  token: RegistrationTokenDoc,
  given: Registrant,
  { said, own, registered }: First & { readonly own: PlatformDoc },
): Promise<void> {
  const { store, log } = context;
  const { server, platformId, url } = given;
  if (!isSamePlatform(own, given)) throw ofAnother(given);
  const isMoved = !isSameAddress(own.url, url);
  const others = registered.filter((doc) => doc !== own);
  if (isMoved && own.token !== token._id) {
    throw failedPrecondition(
      `this registration token has not been used from the platform's present address: register with platform_url ${own.url} first, or ask an administrator to move the platform (\`platforms move\`)`,
    );
  }
  if (isMoved || idOf(own.platform_id) !== idOf(platformId)) await checkUnclaimed(context, token, given, others);
  if (isMoved) await checkAddress(context, "platform_url", url);
  // A platform that says no id now is still the one that said it before.
  const platform_id = platformId === "" ? own.platform_id : platformId;
  if (token.platform === undefined) await bindToken(context, token, { ...given, platformId: platform_id });
  else await touchToken(context, token, { platform_id, url: own.url });
  const { matchedCount } = await store.platforms.updateOne(
    { _id: own._id, url: own.url, token: own.token ?? { $exists: false } },
    { $set: { ...said, url, platform_id, token: token._id } },
  );
  if (matchedCount === 0) throw aborted("the platform's registration changed during the call: register again");
  if (!isMoved) return;
  await touchToken(context, token, { platform_id, url });
  log.info({ server, platform: own._id, url, before: own.url }, "a platform moved to another address");
  await publishPlatform(context, server);
}

/** @throws ConnectError permission_denied, if another token registered, or keeps, the platform's id or address. */
async function checkUnclaimed(
  context: Context,
  token: RegistrationTokenDoc,
  given: Registrant,
  registered: readonly PlatformDoc[],
): Promise<void> {
  if (registered.some((doc) => isClaimed(doc, given))) throw claimed(given);
  const tokens = await context.store.registrationTokens
    .find({ $or: [{ "platform.url": { $exists: true } }, { "forgotten.url": { $exists: true } }] })
    .toArray();
  const kept = tokens.some(({ _id, server, platform, forgotten }) => {
    if (_id === token._id || isUnset(context, _id)) return false;
    const isBound = server === given.server && platform !== undefined && isClaimed(platform, given);
    return isBound || (forgotten?.server === given.server && isClaimed(forgotten, given));
  });
  if (kept) throw claimed(given);
}

function claimed({ server }: Registrant): Error {
  return permissionDenied(
    `a ${server} platform with this id or address registered with another token: use that token, or ask an administrator for its next token (\`platforms create-token --platform ID\`), or to forget the platform (\`platforms forget\`) and revoke its token`,
  );
}

/** Tells every process that another platform may serve; returns when they know. */
export async function publishPlatform({ peers }: Pick<Context, "peers">, server: string): Promise<void> {
  await peers.callAsService(WatchService.method.publish, { kind: EventKind.PLATFORM, id: server });
}

/**
 * An address of a platform without its last slashes.
 *
 * @param argument that holds it.
 * @throws ConnectError invalid_argument, for what is no address of a platform.
 */
export function platformAddress(argument: string, url: string): string {
  const problem = platformUrlProblem(url);
  if (problem !== undefined) throw invalidArgument(`${argument}: ${problem}`);
  return url.replace(/\/+$/, "");
}

/** @throws ConnectError invalid_argument, for an address that this deployment does not call platforms at. */
export async function checkAddress({ outgoing, resolve, log }: Context, argument: string, url: string): Promise<void> {
  const refusal = await refusalNow(outgoing, url, resolve);
  if (refusal === undefined) return;
  log.info({ url, detail: refusal.detail }, "the policy for outgoing addresses refuses the address of a platform");
  throw invalidArgument(`${argument}: ${refusal.message}`);
}

/** The same for the same platform, so that of two that register at once one is made. */
export function recordId({ server, platformId, url }: Registrant, isAdded = false): string {
  const id = idOf(platformId);
  const said = id === "" ? `${isAdded ? "added" : "registered"} ${url}` : id;
  const digest = createHash("sha256").update(said).digest("hex");
  return `${server}-${digest.slice(0, ID_DIGITS)}`;
}

const ID_DIGITS = 12;
