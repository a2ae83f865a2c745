import type { Keys } from "./key-ring-steps.js";
import type { LooseKeyRecord } from "./store.js";

/** The keys of a ring from the records of versions before 0066, which kept one for each key. */
export function looseKeys(records: readonly LooseKeyRecord[], graceMs: number): Keys {
  const newestFirst = records.toSorted((a, b) => b.signs_from.getTime() - a.signs_from.getTime());
  return newestFirst.map(({ ring: _, ...key }, i) => {
    const successor = newestFirst[i - 1];
    if (successor === undefined) return { ...key, signs_until: null, remove_at: null };
    // A rotation that broke off left the older key without an end.
    const removeAt = key.remove_at ?? new Date(successor.signs_from.getTime() + graceMs);
    return { ...key, signs_until: successor.signs_from, remove_at: removeAt };
  });
}
