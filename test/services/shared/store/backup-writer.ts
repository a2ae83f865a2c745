import { openEmbeddedStore } from "../../../../services/shared/store/embedded/embedded.js";

// Writes numbers one after the other, some at once, and says up to which all are acknowledged.

const store = await openEmbeddedStore(process.argv[2] as string);
await store.ensure([
  { name: "pairs", indexes: [{ name: "n", key: { n: 1 } }] },
  { name: "notes", journaled: true, indexes: [] },
  { name: "counters", indexes: [] },
  { name: "spans", environment: "traces", indexes: [] },
]);
const pairs = store.collection<{ _id: string; n: number; text: string }>("pairs");
const notes = store.collection<{ _id: string; n: number }>("notes");
const counters = store.collection<{ _id: string; n: number }>("counters");
await counters.insertOne({ _id: "c", n: 0 });
for (let n = 1; ; n += 20) {
  await counters.updateOne({ _id: "c" }, { $set: { n: n - 1 } });
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => pairs.insertOne({ _id: `p${n + i}`, n: n + i, text: "x".repeat(500) })),
  );
  await notes.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: `n${n + i}`, n: n + i })));
  process.send?.(n + 19);
}
