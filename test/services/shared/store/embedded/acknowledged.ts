import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import type { Base } from "../../../../../services/shared/store/store.js";
import { COUNTERS, ENTRIES, RECORDS, SPECS } from "./writer-plan.js";

/** A write as writer.ts says it. */
export type Acknowledged = readonly [entry: number, lane: number, n: number];

/** The write of a line. */
export function acknowledgedIn(line: string): Acknowledged {
  const [entry, lane, n] = line.split(" ").map(Number) as [number, number, number];
  return [entry, lane, n];
}

/** Opens a store after a crash and says what of it is not there, not whole, or not found by its indexes. */
export async function missingOf(dir: string, acknowledged: readonly Acknowledged[]): Promise<readonly string[]> {
  const missing: string[] = [];
  const store = await openEmbeddedStore(dir);
  try {
    await store.ensure(SPECS);
    const entries = store.collection<Base & { code: string; body: string }>(ENTRIES);
    const counters = store.collection<Base & { n: number }>(COUNTERS);
    const records = store.collection<Base & { entry: number }>(RECORDS);
    const last = new Map<number, number>();
    for (const [entry, lane, n] of acknowledged) {
      last.set(lane, Math.max(n, last.get(lane) ?? 0));
      const byId = await entries.findOne({ _id: `e${entry}` });
      const byCode = await entries.findOne({ code: `code-${entry}` });
      if (byId?.code !== `code-${entry}` || byId.body.length !== 500) missing.push(`entry ${entry} by its id`);
      if (byCode?._id !== `e${entry}`) missing.push(`entry ${entry} by its code`);
    }
    for (const [lane, n] of last)
      if (((await counters.findOne({ _id: `lane-${lane}` }))?.n ?? 0) < n) missing.push(`counter ${lane} at ${n}`);
    const recorded = new Set((await records.find({ entry: { $gte: 0 } }).toArray()).map(({ entry }) => entry));
    for (const [entry] of acknowledged) if (!recorded.has(entry)) missing.push(`record ${entry}`);
    if (recorded.size !== (await records.countDocuments())) missing.push("a record in its index");
    const there = await entries.find({}).toArray();
    if ((await entries.countDocuments({ code: { $gte: "code-" } })) !== there.length)
      missing.push("an entry in its index");
  } finally {
    await store.close();
  }
  return missing;
}
