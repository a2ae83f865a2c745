import { randomUUID } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Context } from "../context.js";
import { replaced } from "../fence.js";
import type { GrantRecord } from "../store.js";
import type { Published } from "../watch-hub.js";
import { deleteOauthOf } from "./adapter.js";

/** What a person, or the identity provider of their company, allowed. */
export type Allowed = Pick<
  GrantRecord,
  "user_id" | "client_id" | "client_name" | "client_host" | "redirect" | "resource" | "server" | "expires_at"
> & { readonly scopes: readonly string[]; readonly _id?: string };

/** Writes down that a client is let in for a person. @returns the id, a new one unless it is given. */
export async function recordGrant(
  { store, fence }: Pick<Context, "store" | "fence">,
  allowed: Allowed,
): Promise<string> {
  const { _id = randomUUID() } = allowed;
  await store.grants.insertOne({
    ...allowed,
    _id,
    scopes: [...allowed.scopes],
    serial: uuidv7(),
    term: fence.epoch,
    created_at: new Date(),
    revoked_at: null,
    last_used_at: null,
    uses: 0,
  });
  return _id;
}

/**
 * Ends a grant; answers when no process accepts a token of it any more.
 *
 * @param whose further conditions on the grant.
 * @returns undefined, where there is none that meets them.
 */
export async function endGrant(
  { store, hub, fence }: Pick<Context, "store" | "hub" | "fence">,
  id: string,
  whose: { readonly user_id?: string } = {},
): Promise<Published | undefined> {
  const { matchedCount } = await store.grants.updateOne(
    { _id: id, ...whose, ...fence.unclaimed, revoked_at: null },
    { $set: { revoked_at: new Date() } },
  );
  if (matchedCount === 0) {
    const found = await store.grants.findOne({ _id: id, ...whose });
    if (found === null) return undefined;
    if (found.revoked_at === null) throw replaced();
  }
  // Also where it was revoked before: whoever did that may not have lived to tell the watchers.
  const published = await hub.tell([{ kind: EventKind.KEY, id }]);
  await deleteOauthOf(store, id);
  return published;
}
