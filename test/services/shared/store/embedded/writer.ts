import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import type { Base } from "../../../../../services/shared/store/store.js";
import { COUNTERS, ENTRIES, LANES, RECORDS, SPECS, WRITES } from "./writer-plan.js";

// Run as a process of its own that is killed, or traced: writes in many lanes at once, and
// says each write on standard output only after it was acknowledged. Arguments: the directory,
// and how many writes and lanes, where these are not those of the plan.

interface Entry extends Base {
  readonly code: string;
  readonly body: string;
}

interface Counter extends Base {
  readonly n: number;
}

const [dir, writes = WRITES, lanes = LANES] = process.argv.slice(2);
const store = await openEmbeddedStore(dir as string);
await store.ensure(SPECS);
const entries = store.collection<Entry>(ENTRIES);
const counters = store.collection<Counter>(COUNTERS);
const records = store.collection<Base & { readonly entry: number }>(RECORDS);

let next = 0;
await Promise.all(
  Array.from({ length: Number(lanes) }, async (_, lane) => {
    for (let n = 1; next < Number(writes); n++) {
      const i = next++;
      await entries.insertOne({ _id: `e${i}`, code: `code-${i}`, body: "x".repeat(500) });
      await counters.updateOne({ _id: `lane-${lane}` }, { $set: { n } }, { upsert: true });
      await records.insertOne({ _id: `r${i}`, entry: i });
      process.stdout.write(`${i} ${lane} ${n}\n`);
    }
  }),
);
await store.close();
