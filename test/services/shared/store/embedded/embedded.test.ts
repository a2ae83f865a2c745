import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Document } from "mongodb";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { shareEnvironment } from "../../../../../services/shared/store/embedded/environment.js";
import type { Base, CollectionSpec, DocCollection, Store } from "../../../../../services/shared/store/store.js";

type Thing = Document & Base;

let dir: string;
let store: Store;
let logged: Document[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "store-"));
  logged = [];
  await reopen();
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

async function reopen(): Promise<void> {
  await store?.close();
  const log = pino({ level: "warn" }, { write: (line) => void logged.push(JSON.parse(line)) });
  store = await openEmbeddedStore(dir, { log });
}

async function collectionOf(spec: Partial<CollectionSpec> = {}): Promise<DocCollection<Thing>> {
  await store.ensure([{ name: "things", indexes: [], ...spec }]);
  return store.collection<Thing>("things");
}

const idsOf = async (query: { toArray(): Promise<Thing[]> }) => (await query.toArray()).map(({ _id }) => _id).join("");
const many = (count: number, of: (i: number) => Document): Thing[] =>
  Array.from({ length: count }, (_, i) => ({ _id: String(i).padStart(6, "0"), ...of(i) }));

test("a collection that nobody declared is refused by its name", () => {
  expect(() => store.collection("unknown")).toThrow("collection unknown is not declared; pass it to ensure first");
});

test("what was written is there after the store was opened again, under its indexes", async () => {
  const indexes = [{ name: "n", key: { n: 1 } }] as const;
  const things = await collectionOf({ indexes });
  await things.insertMany(many(300, (i) => ({ n: i })));
  await reopen();
  const again = await collectionOf({ indexes });
  expect(await again.countDocuments({})).toBe(300);
  expect((await again.findOne({ n: 299 }))?._id).toBe("000299");
  expect(logged).toEqual([]);
});

test("an index remembers over a restart that it holds arrays", async () => {
  const indexes = [{ name: "n", key: { n: 1 } }] as const;
  const things = await collectionOf({ indexes });
  await things.insertMany([
    { _id: "a", n: [1, 9] },
    { _id: "b", n: 5 },
  ]);
  await reopen();
  const again = await collectionOf({ indexes });
  expect(await idsOf(again.find({}, { sort: { n: -1 } }))).toBe("ab");
  expect(await idsOf(again.find({ n: { $gte: 2, $lte: 3 } }))).toBe("a");
});

test("long strings are told apart and sorted although their keys are cut", async () => {
  const things = await collectionOf({ indexes: [{ name: "n", key: { n: 1 }, unique: true }] });
  const long = (end: string) => "x".repeat(5_000) + end;
  await things.insertMany([
    { _id: "b", n: long("2") },
    { _id: "c", n: long("3") },
    { _id: "a", n: long("1") },
  ]);
  expect(await idsOf(things.find({}, { sort: { n: 1 } }))).toBe("abc");
  expect(await idsOf(things.find({ n: { $gt: long("1") } }, { sort: { n: -1 } }))).toBe("cb");
  expect((await things.findOne({ n: long("2") }))?._id).toBe("b");
  await expect(things.insertOne({ _id: "d", n: long("2") })).rejects.toMatchObject({ code: 11000 });
});

test("a scan of many documents lets other work run", async () => {
  const things = await collectionOf();
  await things.insertMany(many(20_000, (i) => ({ n: i, text: "x".repeat(200) })));
  let turns = 0;
  let isOver = false;
  const tick = (): void => {
    turns++;
    if (!isOver) setImmediate(tick);
  };
  tick();
  expect(await things.countDocuments({ text: { $regex: "y$" } })).toBe(0);
  isOver = true;
  expect(turns).toBeGreaterThan(2);
});

test("documents written while a cursor is read disturb it neither in order nor by repetition", async () => {
  const things = await collectionOf({ indexes: [{ name: "n", key: { n: 1 } }] });
  await things.insertMany(many(2_000, (i) => ({ n: i })));
  const seen: number[] = [];
  for await (const { n } of things.find({}, { sort: { n: 1 } })) {
    seen.push(n);
    if (n % 500 === 0) await things.insertOne({ _id: `late-${n}`, n: n + 0.5 });
  }
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.filter(Number.isInteger)).toHaveLength(2_000);
});

test("a query that no index covers is logged once by its fields, never by its values", async () => {
  const things = await collectionOf({ indexes: [{ name: "n", key: { n: 1 } }] });
  await things.insertMany(many(10, (i) => ({ n: i, secret: `s${i}` })));
  await things.find({ n: 3 }).toArray();
  await things.find({}).toArray();
  expect(logged).toEqual([]);
  await things.find({ secret: "s3" }).toArray();
  await things.updateOne({ secret: "s4" }, { $set: { m: 1 } });
  expect(logged).toMatchObject([{ collection: "things", paths: "secret", examined: 10 }]);
  expect(JSON.stringify(logged)).not.toContain("s3");
});

test("conditions on one element and long lists of values are covered by an index", async () => {
  const things = await collectionOf({ indexes: [{ name: "acl", key: { "acl.subject": 1 } }] });
  await things.insertMany(
    many(1_500, (i) => ({
      acl: [
        { subject: `s${i}`, tier: i % 3 },
        { subject: "all", tier: 0 },
      ],
    })),
  );
  const holder = { acl: { $elemMatch: { subject: { $in: ["s4", "s5"] }, tier: { $gte: 2 } } } };
  expect(await idsOf(things.find(holder))).toBe("000005");
  const ids = Array.from({ length: 1_200 }, (_, i) => String(i).padStart(6, "0"));
  expect(await things.countDocuments({ _id: { $in: ids } })).toBe(1_200);
  expect(logged).toEqual([]);
});

test("a collection that promises to stay small is scanned without a word, as long as it does", async () => {
  const things = await collectionOf({ scanBound: 20 });
  await things.insertMany(many(20, (i) => ({ n: i })));
  await things.find({ n: 3 }).toArray();
  expect(logged).toEqual([]);
  await things.insertOne({ _id: "one more" });
  await things.countDocuments({ n: 3 });
  expect(logged).toHaveLength(1);
});

test("an ordered insert of many stops in whichever batch one fails", async () => {
  const things = await collectionOf();
  const documents = many(1_000, (i) => ({ n: i }));
  documents[700] = { _id: "000001" };
  await expect(things.insertMany(documents)).rejects.toMatchObject({ code: 11000, result: { insertedCount: 700 } });
  expect(await things.countDocuments({})).toBe(700);
});

test("updates and deletes reach every document that matches", async () => {
  const things = await collectionOf({ indexes: [{ name: "n", key: { n: 1 } }] });
  await things.insertMany(many(1_500, (i) => ({ n: i % 3 })));
  expect(await things.updateMany({ n: 1 }, { $set: { n: 7 } })).toMatchObject({
    matchedCount: 500,
    modifiedCount: 500,
  });
  expect(await things.deleteMany({ n: { $gte: 2 } })).toMatchObject({ deletedCount: 1_000 });
  expect(await things.countDocuments({})).toBe(500);
});

test("values that cannot be stored are refused by the name of their field", async () => {
  const things = await collectionOf();
  const refused = (document: Document) => expect(things.insertOne(document as Thing)).rejects;
  await refused({ _id: "a", nested: { big: 1n } }).toThrow("nested.big cannot be stored");
  await refused({ _id: "a", made: new Map() }).toThrow("made cannot be stored");
  await refused({ _id: "a", run: () => 1 }).toThrow("run cannot be stored");
  await refused(JSON.parse('{"_id":"a","__proto__":{"x":1}}')).toThrow("a field cannot be named __proto__");
  await refused({ _id: 7 }).toThrow("_id must be a string");
  await refused({ _id: "x".repeat(300) }).toThrow("_id must be a string of at most 240 bytes");
  expect(await things.countDocuments({})).toBe(0);
});

test("two arrays under one index are refused", async () => {
  const things = await collectionOf({ indexes: [{ name: "ab", key: { "a.x": 1, b: 1 } }] });
  await expect(things.insertOne({ _id: "a", a: [{ x: 1 }], b: [1, 2] })).rejects.toMatchObject({ code: 171 });
  await things.insertOne({ _id: "b", a: [{ x: 1 }, { x: 2 }], b: 1 });
  expect(await things.countDocuments({})).toBe(1);
});

test("a document that was read is the caller's to change", async () => {
  const things = await collectionOf();
  const given = { _id: "a", list: [1] };
  await things.insertOne(given);
  given.list.push(2);
  const found = await things.findOne({ _id: "a" });
  found?.list.push(3);
  expect(await things.findOne({ _id: "a" })).toEqual({ _id: "a", list: [1] });
});

test("code in a filter is refused, not run", async () => {
  const things = await collectionOf();
  for (const filter of [{ $where: "true" }, { $expr: { $gt: ["$n", 1] } }, { $or: [{ $where: "true" }] }])
    await expect(async () => things.findOne(filter)).rejects.toThrow("is not supported in a filter");
});

test("traces have an environment of their own", async () => {
  await store.ensure([{ name: "spans", indexes: [{ name: "t", key: { t: 1 } }], environment: "traces" }]);
  const spans = store.collection<Thing>("spans");
  await spans.insertOne({ _id: "s", t: 1 });
  await reopen();
  await store.ensure([{ name: "spans", indexes: [{ name: "t", key: { t: 1 } }], environment: "traces" }]);
  expect(await store.collection<Thing>("spans").countDocuments({ t: 1 })).toBe(1);
});

test("a closed store answers no ping", async () => {
  await store.close();
  await expect(store.ping()).rejects.toThrow("the store is closed");
  await store.close();
});

test("who reads while it is closed is told so, and nothing of memory that was given back", async () => {
  const things = await collectionOf({ indexes: [{ name: "n", key: { n: 1 } }] });
  await things.insertMany(many(500, (i) => ({ n: i })));
  const writing = things.updateMany({}, { $inc: { n: 1 } }).catch((error: Error) => error.message);
  let closed = false;
  const closing = store.close().then(() => {
    closed = true;
  });
  const told = new Set<unknown>();
  while (!closed) {
    for (const read of [things.findOne({ _id: "000001" }), things.findOne({ n: 1 }), things.countDocuments({})]) {
      await read.catch((error: Error) => told.add(error.message));
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all([closing, writing]);
  await things.findOne({ _id: "000001" }).catch((error: Error) => told.add(error.message));
  expect([...told]).toEqual(["the store is closed"]);
});

test("many new collections and indexes share few commits, since each waits for the disk", async () => {
  const index = (n: number) => ({ name: `i${n}`, key: { [`f${n}`]: 1 } }) as const;
  const specs = Array.from({ length: 20 }, (_, at) => ({
    name: `c${at}`,
    indexes: [1, 2, 3, 4, 5].map(index),
    migrations: [{ filter: {}, update: { $set: { moved: true } } }],
  }));
  await store.ensure(specs);
  await store.close();
  const root = shareEnvironment(join(dir, "main"));
  const { lastTxnId } = root.getStats() as { lastTxnId: number };
  await root.close();
  // It was 345 with a commit for each.
  expect(lastTxnId).toBeGreaterThan(1);
  expect(lastTxnId).toBeLessThan(20);
  await reopen();
  await store.ensure(specs);
  expect(await store.collection<Thing>("c19").countDocuments({ f5: 1 })).toBe(0);
  expect(logged).toEqual([]);
});
