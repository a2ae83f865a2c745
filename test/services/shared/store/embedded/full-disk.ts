import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";

// Writes until the disk takes no more, says how that was told, and reads.

const [dir] = process.argv.slice(2) as [string];
const SPEC = { name: "things", indexes: [{ name: "by_kind", key: { kind: 1 } }] } as const;

const store = await openEmbeddedStore(dir);
await store.ensure([SPEC]);
const things = store.collection<{ _id: string; kind: string; text: string; more?: string }>("things");

const ids = Array.from({ length: 400 }, (_, i) => `thing-${i}`);
const kept: string[] = [];
const refusals: string[] = [];
const replaced: string[] = [];
for (const _id of ids) {
  await things.insertOne({ _id, kind: "large", text: "x".repeat(20_000) }).then(
    () => kept.push(_id),
    (error: Error) => refusals.push(error.message),
  );
}
// A replacement takes no transaction of its own: what it is told is the same.
for (const _id of kept) {
  await things.updateOne({ _id }, { $set: { more: "y".repeat(20_000) } }).then(
    () => replaced.push(_id),
    (error: Error) => refusals.push(error.message),
  );
}
// Whatever nobody waited for would end the process here.
await new Promise((resolve) => setImmediate(resolve));
const found = await things.find({ kind: "large" }, { sort: { _id: 1 } }).toArray();
const longer = new Set(found.filter(({ more }) => more !== undefined).map(({ _id }) => _id));
const areThere = JSON.stringify(found.map(({ _id }) => _id)) === JSON.stringify(kept.toSorted());
const intact = areThere && replaced.every((_id) => longer.has(_id));
process.stdout.write(JSON.stringify({ kept: kept.length, refusals: [...new Set(refusals)], intact }));
