import type { Usage } from "../shared/credentials/usage.js";
import type { AuthStore } from "./store.js";

/** Adds counted uses to the keys: one bulk write for all of them. */
export async function writeUsage({ keys }: AuthStore, usages: readonly Usage[]): Promise<void> {
  if (usages.length === 0) return;
  const now = Date.now();
  await keys.bulkWrite(
    usages.map(({ keyId, uses, lastUsedAt }) => ({
      updateOne: {
        filter: { _id: keyId },
        // A clock that runs ahead elsewhere must not show a use in the future.
        update: { $max: { last_used_at: new Date(Math.min(lastUsedAt, now)) }, $inc: { uses } },
      },
    })),
    { ordered: false },
  );
}
