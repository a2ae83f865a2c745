import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { find } from "mingo";
import type { Document, Filter, UpdateFilter } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmbeddedCollection } from "../../../../../services/shared/store/embedded/collection.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import type { Base, CollectionSpec, DocCollection, Store } from "../../../../../services/shared/store/store.js";

// Whatever the planner chooses must be what a scan of all documents finds, and
// whatever was written the indexes must hold exactly the documents' keys.

type Thing = Document & Base;

const INDEXED: CollectionSpec = {
  name: "indexed",
  indexes: [
    { name: "a", key: { a: 1 } },
    { name: "ab", key: { a: 1, b: -1 } },
    { name: "b", key: { b: -1 } },
    { name: "b-sparse", key: { b: 1, a: 1 }, sparse: true },
    { name: "u", key: { u: 1 }, unique: true, sparse: true },
    { name: "tags", key: { tags: 1 } },
    { name: "tags-a", key: { tags: 1, a: 1 } },
    { name: "a-tags", key: { a: -1, tags: -1 } },
    { name: "a-id", key: { a: 1, _id: -1 } },
    { name: "tags-id", key: { tags: -1, _id: 1 } },
    { name: "c", key: { "c.d": 1, "c.e": 1 } },
  ],
};

const LONG = "l".repeat(250);
const scalar = fc.constantFrom<unknown>(
  -1,
  0,
  1,
  2.5,
  "",
  "x",
  "y",
  `${LONG}1`,
  `${LONG}2`,
  true,
  false,
  null,
  new Date(0),
  new Date(5),
);
const bound = fc.constantFrom<unknown>(0, 1, 2, "", "x", `${LONG}1`, new Date(0), new Date(3));
const element = fc.record({ d: scalar, e: scalar }, { requiredKeys: [] });
const ids = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz");

const fields = fc.record(
  {
    a: scalar,
    b: scalar,
    u: fc.integer({ min: 0, max: 1_000_000 }),
    tags: fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
    c: fc.oneof(element, fc.array(element, { maxLength: 3 })),
  },
  { requiredKeys: [] },
);
const things = fc.uniqueArray(fc.tuple(ids, fields), { selector: ([id]) => id, maxLength: 26 });

const path = fc.constantFrom("_id", "a", "b", "tags", "c.d", "c.e");
const condition = fc.oneof(
  scalar,
  fc.record({ $in: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ $eq: scalar }),
  fc.record({ $ne: scalar }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $gt: bound }),
  fc.record({ $lte: bound }),
  fc.record({ $gte: bound, $lt: bound }),
);
const clause = fc.oneof(
  fc.tuple(path, condition).map(([at, demand]) => ({ [at]: demand })),
  fc.record({ c: fc.record({ $elemMatch: fc.record({ d: condition, e: condition }, { requiredKeys: ["d"] }) }) }),
  fc.record({ _id: ids }),
);
const filter = fc.oneof(
  fc.constant({}),
  clause,
  fc.tuple(clause, clause).map(([one, other]) => ({ ...one, ...other })),
  fc.record({ $and: fc.array(clause, { minLength: 1, maxLength: 3 }) }),
  fc.tuple(clause, clause, clause).map(([one, ...either]) => ({ ...one, $or: either })),
);
/** Scalar fields only, and the id last, so that there is one right order. */
const sort = fc
  .tuple(fc.subarray(["a", "b"], { minLength: 0 }), fc.constantFrom(1, -1), fc.constantFrom(1, -1), fc.boolean())
  .map(([paths, first, last, swapped]) => {
    const chosen = swapped ? [...paths].reverse() : paths;
    return Object.fromEntries([
      ...chosen.map((at): [string, 1 | -1] => [at, first as 1 | -1]),
      ["_id", last as 1 | -1],
    ]);
  });
const query = fc.record({ filter, sort, skip: fc.nat(3), limit: fc.nat(6) });

const update = fc.oneof(
  fc.record({ $set: fields.filter((set) => Object.keys(set).length > 0) }),
  fc.constantFrom<Document>(
    { $unset: { a: "" } },
    { $unset: { tags: "", c: "" } },
    { $set: { "c.d": 1 } },
    { $push: { list: 1 } },
    { $max: { b: 2 } },
  ),
);
const write = fc.oneof(
  fc.record({ kind: fc.constant("update" as const), id: ids, update }),
  fc.record({ kind: fc.constant("delete" as const), id: ids }),
);

let dir: string;
let store: Store;
let collection: DocCollection<Thing>;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "store-"));
  store = await openEmbeddedStore(dir);
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

test("an index finds what a scan finds, in the same order, and holds the keys of the documents", async () => {
  let run = 0;
  const property = fc.asyncProperty(
    things,
    fc.array(write, { maxLength: 12 }),
    fc.array(query, { minLength: 1, maxLength: 12 }),
    async (documents, writes, queries) => {
      // Indexes remember having held an array: each run starts with new ones.
      const name = `indexed-${run++ % 20}`;
      await store.ensure([{ ...INDEXED, name, indexes: [] }]);
      collection = store.collection<Thing>(name);
      await collection.deleteMany({});
      await store.ensure([{ ...INDEXED, name }]);
      await collection
        .insertMany(
          documents.map(([_id, rest]) => ({ _id, ...rest })),
          { ordered: false },
        )
        .catch(ignoreDuplicate);
      for (const one of writes) await apply(one);

      const all = (await collection.find({}).toArray()) as Thing[];
      for (const { filter, sort, skip, limit } of queries) {
        const expected = find<Thing, Thing>(all, filter as Document)
          .all()
          .map(({ _id }) => _id);
        const found = await collection.find(filter as Filter<Thing>).toArray();
        expect(found.map(({ _id }) => _id).sort()).toEqual(expected.sort());
        expect(await collection.countDocuments(filter as Filter<Thing>)).toBe(expected.length);
        const page = await collection.find(filter as Filter<Thing>, { sort, skip, limit }).toArray();
        const inOrder = find<Thing, Thing>(all, filter as Document)
          .sort(sort)
          .skip(skip);
        expect(page.map(({ _id }) => _id)).toEqual(
          (limit ? inOrder.limit(limit) : inOrder).all().map(({ _id }) => _id),
        );
      }
      expectAgreement(collection as unknown as EmbeddedCollection, all);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

async function apply(
  one: { kind: "update"; id: string; update: unknown } | { kind: "delete"; id: string },
): Promise<void> {
  if (one.kind === "delete") await collection.deleteOne({ _id: one.id });
  else await collection.updateOne({ _id: one.id }, one.update as UpdateFilter<Thing>).catch(ignoreDuplicate);
}

function ignoreDuplicate(error: { code?: unknown; message: string }): void {
  // A field of a scalar or of an array cannot be set by a name, nor be indexed beside another array.
  if (error.code !== 11000 && error.code !== 171) throw error;
}

function expectAgreement(embedded: EmbeddedCollection, all: readonly Thing[]): void {
  for (const index of embedded.records.indexes.values()) {
    const held = [...index.database.getRange({})].map(({ key, value }) => `${key.toString("hex")} ${value}`);
    const due = all.flatMap((document) =>
      [...index.keysOf(document).values()].map((key) => `${key.toString("hex")} ${document._id}`),
    );
    expect(held.sort()).toEqual(due.sort());
  }
}
