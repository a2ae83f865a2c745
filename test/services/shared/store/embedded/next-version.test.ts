import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Document } from "mongodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { Records } from "../../../../../services/shared/store/embedded/records.js";
import type { Base, DocCollection, Store } from "../../../../../services/shared/store/store.js";

type Thing = Document & Base;

let dir: string;
let store: Store;
let things: DocCollection<Thing>;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "store-"));
  store = await openEmbeddedStore(dir);
  const indexes = [{ name: "kind", key: { kind: 1 } }] as const;
  await store.ensure([{ name: "things", indexes }]);
  things = store.collection<Thing>("things");
});
afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
  await rm(dir, { recursive: true });
});

const after = { returnDocument: "after" } as const;

test("an update of a named document that changes no index takes no transaction", async () => {
  await things.insertOne({ _id: "a", kind: "x", n: 1 });
  const begun = vi.spyOn(Records.prototype, "transaction");
  expect(await things.findOneAndUpdate({ _id: "a", n: 1 }, { $set: { n: 2 } }, after)).toMatchObject({ n: 2 });
  expect(await things.findOneAndUpdate({ _id: "a" }, { $push: { list: 1 } as never }, {})).toEqual({
    _id: "a",
    kind: "x",
    n: 2,
  });
  expect((await things.updateOne({ _id: "a" }, { $inc: { n: 1 } })).modifiedCount).toBe(1);
  expect(begun).not.toHaveBeenCalled();
  expect(await things.findOne({ _id: "a" })).toEqual({ _id: "a", kind: "x", n: 3, list: [1] });
  await things.updateOne({ _id: "a" }, { $set: { kind: "y" } });
  expect(begun).toHaveBeenCalledTimes(1);
  expect(await things.countDocuments({ kind: "y" })).toBe(1);
  expect(await things.countDocuments({ kind: "x" })).toBe(0);
});

test("updates of one document at the same time all count, and one that names what it read wins", async () => {
  await things.insertOne({ _id: "a", kind: "x", n: 0, etag: "0" });
  await Promise.all(Array.from({ length: 50 }, () => things.updateOne({ _id: "a" }, { $inc: { n: 1 } })));
  expect(await things.findOne({ _id: "a" })).toMatchObject({ n: 50 });
  const racing = Array.from({ length: 20 }, (_, i) =>
    things.findOneAndUpdate({ _id: "a", etag: "0" }, { $set: { etag: `new ${i}` } }, after),
  );
  const won = (await Promise.all(racing)).filter((one) => one !== null);
  expect(won.map(({ etag }) => etag)).toEqual(["new 0"]);
});

test("what is decided beside a transaction of the collection sees what that wrote", async () => {
  await things.insertMany([
    { _id: "a", kind: "x", n: 0 },
    { _id: "b", kind: "x", n: 0 },
  ]);
  const [, , moved, gone] = await Promise.all([
    things.updateMany({ kind: "x" }, { $set: { kind: "y" } }),
    things.deleteOne({ _id: "b" }),
    things.findOneAndUpdate({ _id: "a", kind: "x" }, { $inc: { n: 1 } }, after),
    things.findOneAndUpdate({ _id: "b" }, { $set: { n: 1 } }, after),
  ]);
  expect(gone).toBeNull();
  expect((await things.findOne({ _id: "a" }))?.n).toBe(moved === null ? 0 : 1);
  expect(await things.countDocuments({})).toBe(1);
});

test("a document that is replaced and then deleted at the same time is gone, with its entries", async () => {
  await things.insertOne({ _id: "a", kind: "x", n: 0 });
  await Promise.all([things.updateOne({ _id: "a" }, { $inc: { n: 1 } }), things.deleteOne({ _id: "a" })]);
  expect(await things.findOne({ _id: "a" })).toBeNull();
  expect(await things.countDocuments({ kind: "x" })).toBe(0);
});

test("a state of the collection is named only between writes", async () => {
  await things.insertOne({ _id: "a", kind: "x", n: 0 });
  const { version } = things;
  const writing = things.updateOne({ _id: "a" }, { $inc: { n: 1 } });
  expect(things.version).toBeUndefined();
  await writing;
  expect(things.version).toBeGreaterThan(version as number);
});
