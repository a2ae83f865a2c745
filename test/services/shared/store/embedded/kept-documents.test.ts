import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { EmbeddedCollection } from "../../../../../services/shared/store/embedded/collection.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { KeptDocuments } from "../../../../../services/shared/store/embedded/kept-documents.js";
import type { Store } from "../../../../../services/shared/store/store.js";

// That what is kept is what is on disk, whatever is written meanwhile, is shown in without-transaction.test.ts.

let dir: string;
let store: Store;
let things: EmbeddedCollection;
let decoded: ReturnType<typeof vi.spyOn>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "store-"));
  store = await openEmbeddedStore(dir);
  await store.ensure([{ name: "things", indexes: [{ name: "kind", key: { kind: 1 } }] }]);
  things = store.collection("things") as unknown as EmbeddedCollection;
  decoded = vi.spyOn(things.records, "documentOf");
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});
beforeEach(async () => {
  await things.deleteMany({});
  await things.insertMany([{ _id: "a", n: 1, kind: "x", tags: ["p"] }] as never);
  decoded.mockClear();
});

test("a document that is read and then changed is decoded once", async () => {
  const read = await things.findOne({ _id: "a" });
  await things.updateOne({ _id: "a" }, { $set: { n: 2 } });
  expect(decoded).toHaveBeenCalledTimes(1);
  expect(read).toMatchObject({ n: 1 });
  expect(await things.findOne({ _id: "a" })).toMatchObject({ n: 2 });
  expect(decoded).toHaveBeenCalledTimes(2);
});

test.each([
  ["replaced", () => things.updateOne({ _id: "a" }, { $set: { n: 2 } }), { n: 2 }],
  ["changed in a transaction", () => things.updateOne({ _id: "a" }, { $set: { kind: "y" } }), { kind: "y" }],
  ["changed among others", () => things.updateMany({ kind: "x" }, { $set: { n: 3 } }), { n: 3 }],
  ["deleted", () => things.deleteOne({ _id: "a" }), null],
] as const)("a document that is %s is not given as it was", async (_, write, after) => {
  await things.findOne({ _id: "a" });
  const written = write();
  await things.findOne({ _id: "a" });
  await written;
  const found = await things.findOne({ _id: "a" });
  if (after === null) expect(found).toBeNull();
  else expect(found).toMatchObject(after);
});

test("a collection that another thread writes too keeps nothing", async () => {
  await store.ensure([{ name: "shared", indexes: [] }]);
  const { records } = store.collection("shared") as unknown as EmbeddedCollection;
  const read = vi.spyOn(records, "documentOf");
  await store.collection("shared").insertOne({ _id: "a" });
  records.byId("a");
  store.place(["shared"]);
  for (let again = 0; again < 3; again++) records.byId("a");
  expect(read).toHaveBeenCalledTimes(4);
});

test("what is kept is bounded, in each document and together", () => {
  const kept = new KeptDocuments();
  kept.keep({ _id: "long" }, 9 * 1024);
  expect(kept.get("long")).toBeUndefined();
  for (let i = 0; i < 100; i++) kept.keep({ _id: `${i}` }, 8 * 1024);
  expect(Array.from({ length: 100 }, (_, i) => kept.get(`${i}`)).filter((one) => one !== undefined)).toHaveLength(8);
});
