import { createHash } from "node:crypto";
import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { platformUrlProblem } from "../shared/outgoing/named-url.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import { isDuplicateKey } from "../shared/store/store.js";
import type { Context } from "./context.js";
import { isSamePlatform, type Registrant } from "./registration-token.js";
import type { PlatformDoc } from "./store.js";

/** What a registration says beside who it is. */
export type Said = Pick<PlatformDoc, "title" | "version" | "reach" | "last_seen_at">;

/**
 * Writes a registration down: changes the record of that platform, or makes one
 * behind those that are there. Returns when every process knows of a new address.
 *
 * @returns the record's id.
 */
export async function writeRegistration(context: Context, given: Registrant, said: Said): Promise<string> {
  const { store, log } = context;
  const { server, platformId, url } = given;
  const docs = await store.platforms.find({ server }).toArray();
  // Whom an administrator added no token speaks for, and the other way round.
  const isAdded = said.last_seen_at === undefined;
  const held = docs.find((doc) => (doc.last_seen_at === undefined) === isAdded && isSamePlatform(doc, given));
  const _id = held?._id ?? idOf(given, isAdded);
  const write = () =>
    store.platforms.findOneAndUpdate(
      { _id },
      {
        // One that says no id now is still the one that said it before.
        $set: { ...said, url, ...((platformId !== "" || held === undefined) && { platform_id: platformId }) },
        $setOnInsert: { server, registered_at: new Date() },
      },
      { upsert: true, returnDocument: "before" },
    );
  const before = await write().catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
    return write();
  });
  if (before?.url !== url || (said.reach !== undefined && before.reach !== said.reach)) {
    log.info({ server, platform: _id, url, before: before?.url }, "a platform registered at a new address");
    await publishPlatform(context, server);
  }
  return _id;
}

/** Tells every process that another platform may serve; returns when they know. */
export async function publishPlatform({ peers }: Pick<Context, "peers">, server: string): Promise<void> {
  await peers.callAsService(WatchService.method.publish, { kind: EventKind.PLATFORM, id: server });
}

/**
 * An address of a platform without its last slashes.
 *
 * @param argument that holds it.
 * @throws ConnectError invalid_argument, for what no platform is at.
 */
export function platformAddress(argument: string, url: string): string {
  const problem = platformUrlProblem(url);
  if (problem !== undefined) throw invalidArgument(`${argument}: ${problem}`);
  return url.replace(/\/+$/, "");
}

/** The same for the same platform, so that of two that register at once one is made. */
function idOf({ server, platformId, url }: Registrant, isAdded: boolean): string {
  const said = platformId === "" ? `${isAdded ? "added" : "registered"} ${url}` : platformId;
  const digest = createHash("sha256").update(said).digest("hex");
  return `${server}-${digest.slice(0, ID_DIGITS)}`;
}

const ID_DIGITS = 12;
