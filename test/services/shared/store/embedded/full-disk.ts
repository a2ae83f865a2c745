import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";

// Writes until the disk takes no more, says how that was told, and reads.

const [dir] = process.argv.slice(2) as [string];
const SPEC = { name: "things", indexes: [{ name: "by_kind", key: { kind: 1 } }] } as const;

const store = await openEmbeddedStore(dir);
await store.ensure([SPEC]);
const things = store.collection<{ _id: string; kind: string; text: string }>("things");

const ids = Array.from({ length: 400 }, (_, i) => `thing-${i}`);
const kept: string[] = [];
const refusals: string[] = [];
for (const _id of ids) {
  await things.insertOne({ _id, kind: "large", text: "x".repeat(20_000) }).then(
    () => kept.push(_id),
    (error: Error) => refusals.push(error.message),
  );
}
// Whatever nobody waited for would end the process here.
await new Promise((resolve) => setImmediate(resolve));
const found = await things.find({ kind: "large" }, { sort: { _id: 1 } }).toArray();
const intact = JSON.stringify(found.map(({ _id }) => _id)) === JSON.stringify(kept.toSorted());
process.stdout.write(JSON.stringify({ kept: kept.length, refusals: [...new Set(refusals)], intact }));
