import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { inspect } from "node:util";
import fc from "fast-check";
import type { Document } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmbeddedCollection } from "../../../../../services/shared/store/embedded/collection.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import type { Store } from "../../../../../services/shared/store/store.js";

// The same writes at the same times in two stores: one decides what it can without a transaction, the other nothing.

const THINGS = {
  name: "things",
  indexes: [
    { name: "kind", key: { kind: 1 } },
    { name: "code", key: { code: 1 }, unique: true, sparse: true },
    { name: "tags", key: { tags: 1, n: -1 } },
    { name: "inner", key: { "inner.of": 1 } },
  ],
} as const;

let stores: { readonly dir: string; readonly store: Store; readonly things: EmbeddedCollection }[];
let decided = 0;
beforeAll(async () => {
  stores = await Promise.all(
    [0, 1].map(async () => {
      const dir = await mkdtemp(join(tmpdir(), "store-"));
      const store = await openEmbeddedStore(dir);
      await store.ensure([THINGS]);
      return { dir, store, things: store.collection("things") as unknown as EmbeddedCollection };
    }),
  );
  const [{ records }, { records: other }] = stores.map(({ things }) => things) as [
    EmbeddedCollection,
    EmbeddedCollection,
  ];
  other.isSettled = () => false;
  const replace = records.replace.bind(records);
  records.replace = (before, after) => {
    const written = replace(before, after);
    if (written !== undefined) decided++;
    return written;
  };
});
afterAll(async () => {
  for (const { dir, store } of stores) {
    await store.close();
    await rm(dir, { recursive: true });
  }
});

const id = fc.constantFrom("a", "b", "c");
const scalar = fc.constantFrom<unknown>(0, 1, -0, null, "x", Number.NaN);
const value = fc.oneof(
  { weight: 3, arbitrary: scalar },
  fc.constantFrom(1, Number.NaN).map((time) => new Date(time)),
  fc.array(fc.constantFrom("p", "q"), { maxLength: 2 }),
  scalar.map((of) => ({ of })),
);
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("m", "list", "other") },
  fc.constantFrom("n", "kind", "code", "tags", "inner", "inner.of"),
);
const update = fc.oneof(
  fc.dictionary(name, value, { minKeys: 1, maxKeys: 2 }).map(($set) => ({ $set })),
  name.map((one) => ({ $unset: { [one]: "" } })),
  fc.tuple(name, fc.constantFrom("$inc", "$max", "$min")).map(([one, operator]) => ({ [operator]: { [one]: 1 } })),
  fc.constantFrom("tags", "list").map((one) => ({ $addToSet: { [one]: "q" }, $setOnInsert: { m: 5 } })),
);
const filter: fc.Arbitrary<Document> = fc.oneof(
  { weight: 3, arbitrary: id.map((_id) => ({ _id })) },
  fc.record({ _id: id, n: fc.constantFrom(0, 1) }),
  fc.record({ _id: id, tags: fc.constant("p") }),
  fc.constant({ kind: "x" }),
);
type Step = readonly [method: string, ...args: unknown[]];
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom("updateOne", "findOneAndUpdate"), filter, update) },
  {
    weight: 2,
    arbitrary: id.chain((_id) => update.map((one) => ["updateOne", { _id }, one, { upsert: true }] as Step)),
  },
  fc.record({ _id: id, n: value, kind: value, code: scalar }).map((document) => ["insertOne", document] as Step),
  fc.tuple(fc.constantFrom("deleteOne", "findOneAndDelete"), filter),
  fc.constant<Step>(["turn"]),
  { weight: 3, arbitrary: id.map((_id): Step => ["look", _id]) },
);
/** Some at the same time, and then some more. */
const steps = fc
  .array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 8 })
  .map((rounds) => rounds.flatMap((round): Step[] => [...round, ["all"]]));

function changedByReader(document: Document | null): string {
  for (const name in document) {
    const field: unknown = document[name];
    if (Array.isArray(field)) field.push("changed");
    else if (field instanceof Date) field.setTime(7);
    else if (typeof field === "object" && field !== null) Object.assign(field, { of: "changed" });
    else document[name] = "changed";
  }
  return "";
}

const shown = (some: unknown): string => inspect(some, { depth: null });

/** Makes the writes, each at its time; what they return, and what is there then. */
async function outcomeOf(things: EmbeddedCollection, all: readonly Step[]): Promise<string[]> {
  await things.deleteMany({});
  await things.insertMany([
    { _id: "a", n: 1, kind: "x", tags: ["p"] },
    { _id: "b", n: 1 },
  ] as never);
  const made: Promise<string>[] = [];
  const read: string[] = [];
  const methods = things as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const [method, ...args] of all) {
    if (method === "all") {
      await Promise.all(made);
      read.push(shown(await things.findOne({ _id: "a" })), shown(await things.find({}).toArray()));
      read.push(
        shown(await things.find({ kind: "x", n: 1 }).toArray()),
        await things.countDocuments({ m: 1 }).then(shown),
      );
    } else if (method === "turn") await nextTurn();
    // At some time in between, which need not be the same in both stores. What is read is the reader's own.
    else if (method === "look") made.push(things.findOne({ _id: args[0] as string }).then(changedByReader));
    // Each store has arguments of its own.
    else made.push(methods[method]!.apply(things, structuredClone(args)).then(shown, String));
  }
  const returned = await Promise.all(made);
  const left = await things.find({}, { sort: { _id: 1 } }).toArray();
  const { indexes } = things.records;
  for (const index of indexes.values()) {
    const entries = [...index.database.getRange({})].map(({ key, value: of }) => `${key.toString("hex")} ${of}`);
    const wanted = left.flatMap((one) => index.keysOf(one).map((key) => `${key.toString("hex")} ${one._id}`));
    expect(entries.sort()).toEqual(wanted.sort());
  }
  expect(things.version).toBeDefined();
  for (const _id of ["a", "b", "c"]) {
    const wanted = left.find((one) => one._id === _id) ?? null;
    for (let again = 0; again < 2; again++) expect(await things.findOne({ _id })).toEqual(wanted);
  }
  return [...returned, ...read, ...left.map(shown)];
}

test("what is decided without a transaction is what transactions decide, with the same entries of indexes", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const outcomes: string[][] = [];
      for (const { things } of stores) outcomes.push(await outcomeOf(things, all));
      expect(outcomes[0]).toEqual(outcomes[1]);
    }),
    { numRuns: 100 },
  );
  expect(decided).toBeGreaterThan(20);
});
