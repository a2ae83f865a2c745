import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmbeddedCollection } from "../../../../../services/shared/store/embedded/collection.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { readersOf } from "../../../../../services/shared/store/embedded/environment.js";
import { queryOf } from "../../../../../services/shared/store/embedded/mingo.js";
import { fieldsOf } from "../../../../../services/shared/store/embedded/projection.js";
import { readingOf } from "../../../../../services/shared/store/embedded/reading.js";
import type { Records } from "../../../../../services/shared/store/embedded/records.js";
import type { Store } from "../../../../../services/shared/store/store.js";

const DOCUMENTS = [0, 1, 2, 3].flatMap((n) => [
  { _id: `a${n}`, name: `thing ${n}`, labels: ["even", `l${n}`], at: new Date(n * 1_000), deep: { n }, count: n },
  { _id: `b${n}`, name: "", deep: [{ n }, { n: 7 }], labels: [], more: null },
  { _id: `c${n}`, count: n + 0.5, at: "no time", "odd name": Buffer.from([n]) },
]);
const FILTERS = [
  {},
  { name: "thing 1" },
  { at: { $gt: new Date(1_500) } },
  { labels: "even", count: { $gte: 1 } },
  { "deep.n": 7 },
  { deep: { $elemMatch: { n: 2 } } },
  { $or: [{ name: "" }, { "deep.n": { $lt: 2 } }] },
  { $and: [{ count: { $exists: true } }, { $nor: [{ count: 2 }, { _id: "c1" }] }] },
  { name: { $not: { $in: ["", "thing 1"] } } },
  { $nor: [{}] },
  { $or: [{}, { name: "thing 2" }] },
];
const PROJECTIONS = [undefined, { name: 1 }, { _id: 0, at: 1, deep: 1 }, { name: 0, count: 0 }, { _id: 0 }, { _id: 1 }];

let folder: string;
let store: Store;
let records: Records;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "reading-"));
  store = await openEmbeddedStore(folder);
  await store.ensure([{ name: "things", indexes: [] }]);
  await store.collection("things").insertMany(DOCUMENTS);
  records = (store.collection("things") as unknown as EmbeddedCollection).records;
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

test("a document that matches is read as far as was asked for, and no other", () => {
  let matched = 0;
  for (const filter of FILTERS) {
    for (const projection of PROJECTIONS) {
      const fields = fieldsOf(projection);
      const reading = readingOf(readersOf(records.documents), filter, fields!);
      for (const document of DOCUMENTS) {
        const [expected] = queryOf(filter).find<object>([document], projection).all();
        expect(records.read(document._id, reading), JSON.stringify([filter, projection, document])).toEqual(expected);
        if (expected !== undefined) matched++;
      }
    }
  }
  expect(matched).toBeGreaterThan(150);
  expect(records.read("none", readingOf(readersOf(records.documents), {}, fieldsOf(undefined)!))).toBeUndefined();
});

test("what makes more of documents than to leave fields out is not told by their names", () => {
  for (const projection of [{ "deep.n": 1 }, { name: 1, count: 0 }, { labels: { $slice: 1 } }])
    expect(fieldsOf(projection)).toBeUndefined();
});
