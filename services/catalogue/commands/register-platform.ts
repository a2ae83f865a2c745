import type { ConnectError } from "@connectrpc/connect";
import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import type { RegisterPlatformRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { platformUrlProblem } from "../../shared/platform-address.js";
import { PLATFORMS } from "../../shared/platforms.js";
import { failedPrecondition, invalidArgument } from "../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { FRESH_MS } from "../platforms.js";
import {
  bindToken,
  checkToken,
  isSamePlatform,
  type Registrant,
  registrationTokenOf,
  samePlatform,
} from "../registration-token.js";
import type { PlatformDoc } from "../store.js";

/** Registers a platform, or refreshes its heartbeat; the first use of a token makes it that platform's own. */
export async function registerPlatform(
  context: Context,
  request: RegisterPlatformRequest,
): Promise<{ server: string }> {
  const token = await registrationTokenOf(context, request.token);
  const given = registrantOf(request);
  const { server, platformId, url } = given;
  await refuseTakeOver(context, given);
  checkToken(token, given);
  await bindToken(context, token, given);
  const before = await written(context, given, {
    url,
    title: request.platformTitle,
    version: request.platformVersion,
    platform_id: platformId,
    last_seen_at: new Date(),
  });
  if (before?.url !== url) {
    context.log.info({ server, url, before: before?.url }, "a platform registered at a new address");
    await context.peers.callAsService(WatchService.method.publish, { kind: EventKind.PLATFORM, id: server });
  }
  return { server };
}

function registrantOf({ platformIdentifier, platformId, platformUrl }: RegisterPlatformRequest): Registrant {
  const server = PLATFORMS.find(({ identifier }) => identifier === platformIdentifier)?.name;
  if (server === undefined) {
    const known = PLATFORMS.map(({ identifier }) => identifier).join(", ");
    throw invalidArgument(`platform_identifier: must be one of ${known}`);
  }
  const problem = platformUrlProblem(platformUrl);
  if (problem !== undefined) throw invalidArgument(`platform_url: ${problem}`);
  return { server, platformId, url: platformUrl.replace(/\/+$/, "") };
}

/** A token lets a platform register, not take the place of another one that lives. */
async function refuseTakeOver({ store }: Context, given: Registrant): Promise<void> {
  const held = await store.platforms.findOne({ _id: given.server });
  if (held === null || Date.now() - held.last_seen_at.getTime() > FRESH_MS || isSamePlatform(held, given)) return;
  throw takeOver(given);
}

/**
 * Writes where the place is free at that moment: of two platforms that register
 * at once, one has it.
 *
 * @returns what stood there before; null where nothing did.
 */
async function written(
  { store }: Context,
  given: Registrant,
  fields: Omit<PlatformDoc, "_id">,
): Promise<PlatformDoc | null> {
  const stale = { last_seen_at: { $lt: new Date(Date.now() - FRESH_MS) } };
  const free = { _id: given.server, $or: [stale, ...samePlatform(given)] };
  try {
    return await store.platforms.findOneAndUpdate(free, { $set: fields }, { upsert: true, returnDocument: "before" });
  } catch (error) {
    if (isDuplicateKey(error)) throw takeOver(given);
    throw error;
  }
}

function takeOver({ server }: Registrant): ConnectError {
  return failedPrecondition(
    `another ${server} platform is registered and alive: end that one, wait until its heartbeat is missed, and register again`,
  );
}
