import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EmbeddedCollection } from "../../../../../services/shared/store/embedded/collection.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { journalPaths } from "../../../../../services/shared/store/embedded/journal-files.js";
import { framesIn } from "../../../../../services/shared/store/embedded/journal-frame.js";
import { idKey } from "../../../../../services/shared/store/embedded/values.js";
import type { DocCollection, Store } from "../../../../../services/shared/store/store.js";

interface Thing {
  readonly _id: string;
  readonly kind: string;
  readonly n: number;
  readonly text?: string;
}

const THINGS = { name: "things", indexes: [{ name: "kind", key: { kind: 1, _id: 1 } }] } as const;
const OTHERS = { name: "others", indexes: [] } as const;

let dir: string;
let store: Store;
let things: DocCollection<Thing>;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "replacements-"));
  await open();
  await things.insertMany([
    { _id: "a", kind: "x", n: 0 },
    { _id: "b", kind: "x", n: 0 },
  ]);
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

async function open(from = dir): Promise<void> {
  store = await openEmbeddedStore(from);
  await store.ensure([THINGS, OTHERS]);
  things = store.collection<Thing>("things");
}

const change = (_id: string, $set: Partial<Thing>) => things.updateOne({ _id }, { $set });
/** What LMDB has of a document. */
const inLmdb = (_id: string) => (things as unknown as EmbeddedCollection).records.documents.get(idKey(_id));
const idsWaiting = (): string[] =>
  journalPaths(join(dir, "main"), "_replaced").flatMap((path) =>
    framesIn(readFileSync(path)).flatMap(({ entries }) => entries.map(({ id }) => id)),
  );

test("a replaced document is on disk in the journal alone, and read as it is now by every way to ask", async () => {
  await change("a", { n: 1 });
  expect(idsWaiting()).toEqual(["a"]);
  expect(inLmdb("a")).toMatchObject({ n: 0 });
  expect(await things.findOne({ _id: "a" })).toMatchObject({ n: 1 });
  expect(await things.findOne({ _id: "a", n: 0 })).toBeNull();
  expect(await things.find({ kind: "x", n: 1 }).toArray()).toMatchObject([{ _id: "a" }]);
  expect(await things.find({ n: 1 }).toArray()).toMatchObject([{ _id: "a" }]);
  expect(await things.find({ kind: "x" }, { projection: { n: 1 } }).toArray()).toEqual([
    { _id: "a", n: 1 },
    { _id: "b", n: 0 },
  ]);
  expect(await things.countDocuments({ n: 0 })).toBe(1);
  expect(await things.distinct("n", {})).toEqual([1, 0]);
  const looked = await things.look({
    ways: [{ index: "kind", by: { kind: "x" } }],
    ...{ wanted: { n: 1 }, order: "_id", direction: 1, range: {}, limit: 5, most: 10 },
  });
  expect(looked.found).toMatchObject([{ _id: "a", n: 1 }]);
  expect(inLmdb("a")).toMatchObject({ n: 0 });
  await expect.poll(() => inLmdb("a")).toMatchObject({ n: 1 });
  expect(await things.findOne({ _id: "a" })).toMatchObject({ n: 1 });
});

test("the same document again and again, and what each answer says", async () => {
  for (let n = 1; n <= 50; n++) {
    expect(await things.findOneAndUpdate({ _id: "a", n: n - 1 }, { $set: { n } }, { returnDocument: "after" })).toEqual(
      { _id: "a", kind: "x", n },
    );
  }
  expect((await change("a", { n: 50 })).modifiedCount).toBe(0);
});

test("a transaction of the collection sees what was replaced, and what it writes stays", async () => {
  await change("a", { n: 1 });
  expect((await things.updateMany({ kind: "x" }, { $inc: { n: 10 } })).modifiedCount).toBe(2);
  expect(await things.findOne({ _id: "a" })).toMatchObject({ n: 11 });
  await change("a", { n: 12 });
  const moved = change("a", { kind: "y" });
  const replaced = change("b", { n: 13 });
  await Promise.all([moved, replaced]);
  expect(await things.find({ kind: "y" }).toArray()).toEqual([{ _id: "a", kind: "y", n: 12 }]);
  await change("b", { n: 14 });
  expect(await things.findOneAndDelete({ _id: "b" }, {})).toMatchObject({ n: 14 });
  expect(await things.findOne({ _id: "b" })).toBeNull();
  await things.insertOne({ _id: "b", kind: "x", n: 15 });
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(await things.find({}, { sort: { _id: 1 } }).toArray()).toMatchObject([{ n: 12 }, { n: 15 }]);
});

test("insertions by a journal and replacements of the same collection go on beside each other, and none overtakes", async () => {
  await store.ensure([{ name: "records", journaled: true, indexes: [{ name: "n", key: { n: 1 } }] }]);
  const records = store.collection<{ _id: string; n: number; outcome?: string }>("records");
  await Promise.all(
    Array.from({ length: 8 }, async (_, lane) => {
      for (let i = 0; i < 60; i++) {
        const _id = `r${lane}-${i}`;
        await records.insertOne({ _id, n: i });
        await records.updateOne({ _id }, { $set: { outcome: "ok" } });
      }
    }),
  );
  expect(await records.countDocuments({ outcome: "ok" })).toBe(480);
});

test("a transaction of another collection is on disk after what was replaced before it", async () => {
  await change("a", { n: 1 });
  await store.collection("others").insertOne({ _id: "o" });
  expect(inLmdb("a")).toMatchObject({ n: 1 });
});

test("writes in an order keep it, whichever way each would go", async () => {
  await change("a", { n: 1 });
  const others = store.collection<{ _id: string }>("others");
  await store.inOrder([
    () => change("a", { n: 2 }),
    () => things.insertOne({ _id: "c", kind: "x", n: 0 }),
    () => others.insertOne({ _id: "o" }),
  ]);
  expect(inLmdb("a")).toMatchObject({ n: 2 });
  expect(inLmdb("c")).toMatchObject({ n: 0 });
});

test("a document that is too long for the journal is put into the collection, after what waits of it", async () => {
  await change("b", { text: "y".repeat(40_000) });
  expect(idsWaiting()).toEqual([]);
  expect(inLmdb("b")?.text).toHaveLength(40_000);
  await change("a", { n: 1 });
  await change("a", { text: "y".repeat(40_000) });
  expect(inLmdb("a")).toMatchObject({ n: 1, text: "y".repeat(40_000) });
  await change("a", { n: 2, text: "short" });
  await store.close();
  await open();
  expect(await things.findOne({ _id: "a" })).toEqual({ _id: "a", kind: "x", n: 2, text: "short" });
});

test("what a crash leaves in the journal is there at the next start, before an index is made and a migration runs", async () => {
  await change("a", { n: 1 });
  const crashed = mkdtempSync(join(tmpdir(), "crashed-"));
  cpSync(join(dir, "main"), join(crashed, "main"), { recursive: true });
  const [journal] = journalPaths("main", "_replaced");
  const left = readFileSync(join(dir, journal));
  expect(framesIn(left)).toHaveLength(1);
  await store.close();
  // Who ends in order leaves nothing to read at the next start.
  expect(statSync(join(dir, journal)).size).toBe(0);
  store = await openEmbeddedStore(crashed);
  const migrated = {
    ...THINGS,
    indexes: [...THINGS.indexes, { name: "n", key: { n: 1 } }],
    migrations: [{ filter: { n: 1 }, update: { $set: { text: "migrated" } } }],
  } as const;
  await store.ensure([migrated]);
  things = store.collection<Thing>("things");
  expect(await things.find({ n: 1 }).toArray()).toEqual([{ _id: "a", kind: "x", n: 1, text: "migrated" }]);
  await store.close();
  // Once: what is written later is not written over.
  writeFileSync(join(crashed, journal), left);
  store = await openEmbeddedStore(crashed);
  await store.ensure([migrated]);
  expect(await store.collection<Thing>("things").findOne({ _id: "a" })).toMatchObject({ text: "migrated" });
  rmSync(crashed, { recursive: true });
});
