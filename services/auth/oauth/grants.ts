import { randomUUID } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Context } from "../context.js";
import type { GrantRecord } from "../store.js";
import type { Published } from "../watch-hub.js";
import { deleteOauthOf } from "./records.js";

/** What a person, or the identity provider of their company, allowed. */
export type Allowed = Pick<
  GrantRecord,
  "user_id" | "client_id" | "client_name" | "client_host" | "redirect" | "resource" | "server" | "expires_at"
> & { readonly scopes: readonly string[]; readonly _id?: string };

/** Writes down that a client is let in for a person. @returns the id, a new one unless it is given. */
export async function recordGrant({ store }: Pick<Context, "store">, allowed: Allowed): Promise<string> {
  const { _id = randomUUID() } = allowed;
  await store.grants.insertOne({
    ...allowed,
    _id,
    scopes: [...allowed.scopes],
    serial: uuidv7(),
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
  { store, hub }: Pick<Context, "store" | "hub">,
  id: string,
  whose: { readonly user_id?: string } = {},
): Promise<Published | undefined> {
  const { matchedCount } = await store.grants.updateOne(
    { _id: id, ...whose, revoked_at: null },
    { $set: { revoked_at: new Date() } },
  );
  if (matchedCount === 0 && (await store.grants.findOne({ _id: id, ...whose })) === null) return undefined;
  // Also where it was revoked before: whoever did that may not have lived to tell the watchers.
  const published = await hub.publish([{ kind: EventKind.KEY, id }]);
  await deleteOauthOf(store, id);
  return published;
}
