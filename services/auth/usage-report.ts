import { KEY_ID_LENGTH } from "../shared/credentials/format.js";
import type { Usage } from "../shared/credentials/usage.js";
import type { AuthStore } from "./store.js";

/** Adds counted uses to the keys and grants: one bulk write for all of each. */
export async function writeUsage(
  { keys, grants }: Pick<AuthStore, "keys" | "grants">,
  usages: readonly Usage[],
): Promise<void> {
  if (usages.length === 0) return;
  const now = Date.now();
  const operationsOf = (some: readonly Usage[]) =>
    some.map(({ keyId, uses, lastUsedAt, client, connectedAt }) => ({
      updateOne: {
        filter: { _id: keyId },
        // A clock that runs ahead elsewhere must not show a use in the future.
        update: {
          $max: { last_used_at: new Date(Math.min(lastUsedAt, now)) },
          $inc: { uses },
          ...(client !== "" && { $set: { client, client_connected_at: new Date(Math.min(connectedAt, now)) } }),
        },
      },
    }));
  const ofKeys = usages.filter(({ keyId }) => keyId.length === KEY_ID_LENGTH);
  const ofGrants = usages.filter(({ keyId }) => keyId.length !== KEY_ID_LENGTH);
  if (ofKeys.length > 0) await keys.bulkWrite(operationsOf(ofKeys), { ordered: false });
  if (ofGrants.length > 0) await grants.bulkWrite(operationsOf(ofGrants), { ordered: false });
}
