import { createHash } from "node:crypto";
import type { AuthStore } from "../store.js";

/** At the authorization endpoint an unknown client is an error that no client recovers from: one that was used stays. */
const USED_CLIENT_MS = 400 * 24 * 3_600_000;

/** The id of a record of the authorization server: what a bearer sends is not in the store. */
export function recordIdOf(model: string, id: string): string {
  return createHash("sha256").update(model).update("\0").update(id).digest("base64url");
}

/** Keeps a client that a person let in; called at each consent. */
export async function keepClient({ oauth }: Pick<AuthStore, "oauth">, clientId: string): Promise<void> {
  const expires_at = new Date(Date.now() + USED_CLIENT_MS);
  await oauth.updateOne({ _id: recordIdOf("Client", clientId) }, { $set: { expires_at } });
}

/** Deletes what the authorization server keeps of a grant. */
export async function deleteOauthOf({ oauth }: Pick<AuthStore, "oauth">, grantId: string): Promise<void> {
  await oauth.deleteMany({ grant_id: grantId });
  await oauth.deleteOne({ _id: recordIdOf("Grant", grantId) });
}
