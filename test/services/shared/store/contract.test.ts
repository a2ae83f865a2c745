import { setImmediate as nextTurn } from "node:timers/promises";
import type { Collection, Document, Filter, UpdateFilter } from "mongodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Base,
  type CollectionSpec,
  type DocCollection,
  type DriverCollection,
  type FindOptions,
  insertedBefore,
  isDuplicateKey,
  type Look,
  type Store,
} from "../../../../services/shared/store/store.js";
import { titled } from "../../../support/titled.js";
import { backends } from "./backends.js";

// What the store promises, written from MongoDB's documented behaviour and held
// against every implementation. The driver's own class satisfies the interface
// as it is, which the next lines prove when they compile.

interface Person extends Base {
  readonly email: string;
  readonly age: number;
  readonly joined: Date;
}
declare const driverCollection: Collection<Person>;
export type Proof = typeof driverCollection extends DriverCollection<Person> ? true : never;
const proof: Proof = true;

type Thing = Document & Base;

const THINGS: CollectionSpec = {
  name: "things",
  indexes: [
    { name: "email", key: { email: 1 }, unique: true, sparse: true },
    { name: "org", key: { org: 1, createdAt: -1 } },
    { name: "org-id", key: { org: 1, _id: -1 } },
    { name: "tags", key: { tags: 1 } },
    { name: "tag-n", key: { tags: 1, n: 1 } },
    { name: "scores", key: { scores: 1 } },
    { name: "who", key: { who: 1, _id: -1 } },
    { name: "labels", key: { labels: 1, _id: -1 } },
    { name: "codes", key: { codes: 1 }, unique: true, sparse: true },
    { name: "expiry", key: { exp: 1 }, expireAfterSeconds: 0, sparse: true },
  ],
};

const at = (seconds: number) => new Date(1.7e12 + seconds * 1_000);

const SEED: Thing[] = [
  {
    _id: "a",
    org: "o",
    n: 1,
    createdAt: at(1),
    tags: ["x", "y"],
    email: "a@x",
    nested: { k: 1 },
    items: [
      { s: 1, q: 5 },
      { s: 2, q: 7 },
    ],
    on: true,
  },
  { _id: "b", org: "o", n: 2, createdAt: at(2), tags: [], nul: null, on: false },
  { _id: "c", org: "o", n: 3, createdAt: at(3), tags: ["y"], scores: [0, 5] },
  { _id: "d", org: "p", n: "4", createdAt: at(4), bytes: Buffer.from([0, 1, 255]) },
];

const BY_ORG_ID: FindOptions = { hint: "org-id", sort: { _id: -1 } };

/** A filter, with a sort where the order is part of what is expected, and the ids it finds. */
const QUERIES: [title: string, filter: Filter<Thing>, ids: string, options?: FindOptions][] = [
  ["everything", {}, "abcd"],
  ["an equality", { org: "o" }, "abc"],
  ["an id", { _id: "b" }, "b"],
  ["an id and another field that differs", { _id: "b", org: "p" }, ""],
  ["several ids", { _id: { $in: ["d", "a", "zz"] } }, "ad"],
  ["a range of ids", { _id: { $gt: "a", $lte: "c" } }, "bc"],
  ["a boolean", { on: false }, "b"],
  ["an array by an element", { tags: "y" }, "ac"],
  ["an array by the whole", { tags: ["x", "y"] }, "a"],
  ["an empty array by the whole", { tags: [] }, "b"],
  ["an array by what it lacks", { tags: { $ne: "y" } }, "bd"],
  ["null, which a missing field also is", { nul: null }, "abcd"],
  ["null in an indexed field, which an empty array is not", { tags: null }, "d"],
  ["a missing field of a sparse index", { email: null }, "bcd"],
  ["a field that exists", { nul: { $exists: true } }, "b"],
  ["a field that does not", { email: { $exists: false } }, "bcd"],
  ["numbers only, by a bound that is a number", { n: { $gt: 1 } }, "bc"],
  ["strings only, by a bound that is a string", { n: { $gte: "" } }, "d"],
  ["a range of dates", { org: "o", createdAt: { $gte: at(2), $lt: at(3) } }, "b"],
  ["a range with bounds that two elements meet", { scores: { $gt: 1, $lt: 4 } }, "c"],
  ["a range over an indexed array", { tags: { $gt: "x" } }, "ac"],
  ["a range over an indexed array, both bounds", { tags: { $gte: "x", $lt: "y" } }, "a"],
  ["any of several", { email: { $in: ["a@x", "q"] } }, "a"],
  ["none of none", { org: { $in: [] } }, ""],
  ["null among several", { email: { $in: [null, "a@x"] } }, "abcd"],
  ["a nested field", { "nested.k": 1 }, "a"],
  ["a field of an array's elements", { "items.s": 2 }, "a"],
  ["an element by its position", { "items.1.s": 2 }, "a"],
  ["one element that meets all", { items: { $elemMatch: { s: 1, q: 5 } } }, "a"],
  ["no one element that meets all", { items: { $elemMatch: { s: 1, q: 7 } } }, ""],
  ["one scalar element that meets all", { scores: { $elemMatch: { $gt: 1, $lt: 9 } } }, "c"],
  ["either", { $or: [{ n: 1 }, { org: "p" }] }, "ad"],
  ["neither", { $nor: [{ n: 1 }, { org: "p" }] }, "bc"],
  ["both of $and", { $and: [{ org: "o" }, { tags: "y" }, { n: { $gt: 1 } }] }, "c"],
  ["a regular expression", { email: /^A@/i }, "a"],
  ["a regular expression by operator", { org: { $regex: "^p" } }, "d"],
  ["the size of an array", { tags: { $size: 0 } }, "b"],
  ["none of several, or missing", { email: { $nin: ["a@x"] } }, "bcd"],
  ["what is not", { n: { $not: { $gt: 1 } } }, "ad"],
  ["all of several", { tags: { $all: ["x", "y"] } }, "a"],
  ["a type", { n: { $type: "string" } }, "d"],
  ["a remainder", { n: { $mod: [2, 1] } }, "ac"],
  ["binary", { bytes: Buffer.from([0, 1, 255]) }, "d"],
  ["newest first by an index", { org: "o" }, "cb", { sort: { createdAt: -1, _id: -1 }, limit: 2 }],
  ["oldest first by the same index", { org: "o" }, "abc", { sort: { createdAt: 1 } }],
  [
    "the page after a position",
    { org: "o", $or: [{ createdAt: { $lt: at(3) } }, { createdAt: at(3), _id: { $lt: "c" } }] },
    "ba",
    { sort: { createdAt: -1, _id: -1 } },
  ],
  ["mixed types in MongoDB's order", {}, "dcba", { sort: { n: -1 } }],
  ["a sort by arrays: the least element ascending", { tags: { $exists: true } }, "bac", { sort: { tags: 1 } }],
  ["a sort by two fields", {}, "dabc", { sort: { org: -1, n: 1 } }],
  ["a sort given as pairs", { org: "o" }, "cba", { sort: [["createdAt", "desc"]] }],
  ["what remains after a skip", {}, "cb", { sort: { _id: -1 }, skip: 1, limit: 2 }],
  ["nothing after a skip past the end", { org: "o" }, "", { skip: 3 }],
  ["several values of an index in one order", { org: { $in: ["p", "o"] } }, "dcba", { sort: { createdAt: -1 } }],
  [
    "a part of several values in one order",
    { org: { $in: ["o", "p"] }, createdAt: { $gt: at(1), $lt: at(4) } },
    "bc",
    { sort: { createdAt: 1, _id: 1 } },
  ],
  ["one that has several of the values once", { tags: { $in: ["x", "y"] } }, "ca", { sort: { n: -1, _id: -1 } }],
  ["what remains of them after a skip", { tags: { $in: ["x", "y"] } }, "a", { sort: { n: -1 }, skip: 1, limit: 2 }],
  ["what an index that is named does not tell", { org: "o", n: { $gt: 1 } }, "cb", { hint: "org", sort: { n: -1 } }],
  ["ids past one, by an index that ends with them", { org: "o", _id: { $gt: "a" } }, "cb", BY_ORG_ID],
  ["ids before one, of several values", { org: { $in: ["p", "o"] }, _id: { $lt: "d" } }, "cba", BY_ORG_ID],
  ["ids between two that are not among them", { org: "o", _id: { $gt: "a", $lt: "c" } }, "b", BY_ORG_ID],
  ["at most a limit over an array index", { tags: { $in: ["x", "y"] } }, "a", { sort: { _id: 1 }, limit: 1 }],
];

/** An update of document a, and what its fields are afterwards. */
const UPDATES: [title: string, update: Document, fields: Document][] = [
  ["$set", { $set: { n: 7 } }, { n: 7 }],
  ["$set of a nested path that is not there", { $set: { "x.y.z": 1 } }, { x: { y: { z: 1 } } }],
  ["$set of an element by its position", { $set: { "items.1.q": 9 } }, { "items.1": { s: 2, q: 9 } }],
  ["$set of a date", { $set: { seen: at(9) } }, { seen: at(9) }],
  ["$set of binary", { $set: { bytes: Buffer.from("hé") } }, { bytes: Buffer.from("hé") }],
  ["$set of the id that it has", { $set: { _id: "a", n: 8 } }, { n: 8 }],
  ["$unset", { $unset: { "nested.k": "", email: "" } }, { nested: {}, email: undefined }],
  ["$inc, of a field that is there and one that is not", { $inc: { n: 2, hits: 1 } }, { n: 3, hits: 1 }],
  ["$mul of a missing field", { $mul: { m: 3 } }, { m: 0 }],
  ["$min and $max", { $min: { n: 0, low: 2 }, $max: { "nested.k": 9 } }, { n: 0, low: 2, nested: { k: 9 } }],
  ["$rename", { $rename: { n: "m" } }, { m: 1, n: undefined }],
  ["$push", { $push: { tags: "z" } }, { tags: ["x", "y", "z"] }],
  ["$push to a missing field", { $push: { list: 1 } }, { list: [1] }],
  ["$push with $each and $slice", { $push: { tags: { $each: ["z", "w"], $slice: -2 } } }, { tags: ["z", "w"] }],
  ["$push with $position", { $push: { tags: { $each: ["z"], $position: 0 } } }, { tags: ["z", "x", "y"] }],
  ["$addToSet", { $addToSet: { tags: { $each: ["y", "q"] } } }, { tags: ["x", "y", "q"] }],
  ["$pull by a value", { $pull: { tags: "x" } }, { tags: ["y"] }],
  ["$pull by a condition", { $pull: { items: { s: 1 } } }, { items: [{ s: 2, q: 7 }] }],
  ["$pullAll", { $pullAll: { tags: ["x", "y"] } }, { tags: [] }],
  ["$pop", { $pop: { tags: 1 } }, { tags: ["x"] }],
  ["$setOnInsert, which an update ignores", { $set: { n: 5 }, $setOnInsert: { m: 1 } }, { n: 5, m: undefined }],
];

for (const backend of backends) {
  describe.skipIf(backend.missing !== undefined)(titled(backend.title, backend.missing), () => {
    let store: Store;
    let close: () => Promise<void>;
    let things: DocCollection<Thing>;

    beforeAll(async () => {
      ({ store, close } = await backend.open());
      await store.ensure([THINGS]);
      things = store.collection<Thing>("things");
    });
    afterAll(() => close());
    beforeEach(async () => {
      await things.deleteMany({});
      await things.insertMany(structuredClone(SEED).map((thing) => ({ ...thing, ...binaryOf(thing) })));
    });

    const idsOf = async (filter: Filter<Thing>, options: FindOptions = {}) =>
      (await things.find(filter, { sort: { _id: 1 }, ...options }).toArray()).map(({ _id }) => _id).join("");

    describe("finds", () => {
      for (const [query, filter, ids, options] of QUERIES)
        test.skipIf(query in backend.departures)(titled(query, backend.departures[query]), async () => {
          expect(await idsOf(filter, options)).toBe(ids);
          if (!options?.skip && !options?.limit) {
            expect(await things.countDocuments(filter)).toBe(ids.length);
            expect((await things.findOne(filter, { sort: { _id: 1 }, ...options }))?._id).toBe(ids[0]);
          }
        });

      test("the same values that were stored", async () => {
        const { _id, ...rest } = (await things.findOne({ _id: "d" })) as Thing;
        expect(rest).toEqual({ org: "p", n: "4", createdAt: at(4), bytes: Buffer.from([0, 1, 255]) });
      });

      test("numbers at the edges of what a number holds", async () => {
        const numbers = [0, -1, 0.1, 2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, 1e300, Number.MIN_VALUE];
        await things.insertOne({ _id: "numbers", numbers });
        expect((await things.findOne({ _id: "numbers" }))?.numbers).toEqual(numbers);
      });

      test("only the fields of an inclusion", async () => {
        expect(await things.findOne({ _id: "a" }, { projection: { n: 1, "nested.k": 1 } })).toEqual({
          _id: "a",
          n: 1,
          nested: { k: 1 },
        });
        expect(await things.findOne({ email: "a@x" }, { projection: { n: 1, _id: 0 } })).toEqual({ n: 1 });
        const ids = { projection: { _id: 1 } };
        for (const filter of [{ _id: { $gte: "b", $lte: "d" } }, { _id: { $in: ["b", "c", "d"] } }])
          expect(await things.find(filter, ids).sort({ _id: 1 }).toArray()).toEqual([
            { _id: "b" },
            { _id: "c" },
            { _id: "d" },
          ]);
      });

      test("all but the fields of an exclusion", async () => {
        const found = await things.findOne({ _id: "d" }, { projection: { n: 0, bytes: 0 } });
        expect(Object.keys(found ?? {}).sort()).toEqual(["_id", "createdAt", "org"]);
      });

      test("by a cursor, one at a time, in a loop and to its end", async () => {
        const cursor = things.find({ org: "o" }).sort({ createdAt: 1 }).skip(1).limit(5).project({ n: 1 });
        expect(await cursor.next()).toEqual({ _id: "b", n: 2 });
        const rest: unknown[] = [];
        for await (const thing of cursor) rest.push(thing);
        expect(rest).toEqual([{ _id: "c", n: 3 }]);
        expect(await cursor.next()).toBeNull();
        await cursor.close();
      });

      test("more documents than one answer of a server holds", async () => {
        await things.insertMany(Array.from({ length: 2_500 }, (_, i) => ({ _id: `k${i}`, g: i % 2 })));
        let found = 0;
        for await (const { g } of things.find({ g: 1 })) found += g;
        expect(found).toBe(1_250);
        expect(await things.countDocuments({})).toBe(2_504);
      });

      test("the distinct values of a field, elements of arrays one by one", async () => {
        expect((await things.distinct("tags", {})).sort()).toEqual(["x", "y"]);
        expect(await things.distinct("org", { _id: "d" })).toEqual(["p"]);
      });

      test("how many there are, up to a limit", async () => {
        expect(await things.countDocuments()).toBe(4);
        expect(await things.countDocuments({}, { limit: 3 })).toBe(3);
        expect(await things.countDocuments({ org: "o" }, { limit: 2 })).toBe(2);
        expect(await things.countDocuments({ org: "o", n: 1 }, { limit: 2, hint: "org" })).toBe(1);
      });

      describe("what is looked for", () => {
        const MANY = 60;
        const idOf = (n: number): string => String(n).padStart(3, "0");
        const look = (asked: Partial<Look<Thing>>) =>
          things.look({
            ...{ ways: [{ index: "who", by: { who: { $in: ["a", "b"] } } }], wanted: {} },
            ...{ order: "_id", direction: -1, range: {}, limit: 100, most: 20, ...asked },
          });
        const read = async (asked: Partial<Look<Thing>>) => {
          const { found, end } = await look(asked);
          return [found.map(({ _id }) => Number(_id)), end === undefined ? end : Number(end)];
        };
        const label = (name: string) => ({ index: "labels", by: { labels: name } });
        const seen = { index: "who", by: { who: { $in: ["a", "b"] } } };

        beforeEach(async () => {
          await things.deleteMany({});
          const who = [["a"], ["b"], ["a", "b"], ["c"]];
          const labels = (n: number) => [
            n % 2 === 0 ? "even" : "odd",
            ...(n % 30 === 3 || n % 30 === 4 ? ["rare"] : []),
          ];
          await things.insertMany(
            Array.from({ length: MANY }, (_, n) => ({
              ...{ _id: idOf(n), who: who[n % 4], labels: labels(n), n, name: `Thing ${n} of Müller’s` },
            })),
          );
        });

        test("in order, within bounds, up to a limit", async () => {
          expect(await read({ wanted: { n: { $gte: 50 } }, most: 60 })).toEqual([
            [58, 57, 56, 54, 53, 52, 50],
            undefined,
          ]);
          expect(await read({ limit: 2 })).toEqual([[58, 57], undefined]);
          expect(await read({ direction: 1, range: { $gt: idOf(2), $lt: idOf(9) } })).toEqual([
            [4, 5, 6, 8],
            undefined,
          ]);
          const range = { $gte: idOf(2), $lt: idOf(9) };
          expect(await read({ range, limit: 4, wanted: { n: { $ne: 6 } } })).toEqual([[8, 5, 4, 2], undefined]);
        });

        test("in a bounded number of documents, and then says where to go on", async () => {
          const all: unknown[] = [];
          let range: Look<Thing>["range"] = {};
          for (let looks = 0; ; looks++) {
            const { found, end } = await look({ wanted: { n: 1 }, range, most: 10 });
            all.push(...found.map(({ n }) => n));
            if (end === undefined) break;
            expect(looks).toBeLessThan(10);
            expect(end < (range.$lt ?? "~")).toBe(true);
            range = { $lt: end };
          }
          expect(all).toEqual([1]);
          expect(await read({ wanted: { n: -1 }, most: 45 })).toEqual([[], undefined]);
        });

        test("along the way that reaches furthest, whichever is named first", async () => {
          for (const ways of [[seen, label("rare")] as const, [label("rare"), seen] as const])
            expect(await read({ ways, most: 20 })).toEqual([[34, 33, 4], undefined]);
          expect(await read({ ways: [seen, label("even"), label("odd")], most: 300 })).toEqual([[], undefined]);
          expect(await read({ ways: [label("even"), label("rare")], wanted: { who: "c" } })).toEqual([[], undefined]);
          expect(await read({ ways: [seen, label("nobody's")] })).toEqual([[], undefined]);
        });

        test("by words in any case, of texts that are not ASCII too", async () => {
          const named = (text: string) => ({ $or: [{ name: { $regex: text, $options: "i" } }, { other: text }] });
          expect(await read({ wanted: named("tHING 5"), most: 60, limit: 2 })).toEqual([[58, 57], undefined]);
          expect(await read({ wanted: named("MÜLLER’S"), limit: 1 })).toEqual([[58], undefined]);
          expect(await read({ wanted: { name: "Thing 5 of Müller’s" }, most: 60 })).toEqual([[5], undefined]);
          // A label is no name.
          expect(await read({ wanted: { name: "even" }, most: 60 })).toEqual([[], undefined]);
        });

        test("with what is asked for of each", async () => {
          expect((await look({ limit: 1, projection: { n: 0, name: 0 } })).found).toEqual([
            { _id: "058", who: ["a", "b"], labels: ["even"] },
          ]);
        });

        test("by no undefined value", async () => {
          await expect(look({ wanted: { n: undefined } })).rejects.toThrow("undefined");
        });
      });

      test("no document by an undefined value, but refuses it", async () => {
        const undefinedOrg = { org: undefined } as unknown as Filter<Thing>;
        await expect(async () => things.findOne(undefinedOrg)).rejects.toThrow("the filter on org is undefined");
        await expect(async () => things.find(undefinedOrg).toArray()).rejects.toThrow("undefined");
        await expect(async () => things.deleteMany(undefinedOrg)).rejects.toThrow("undefined");
        await expect(async () => things.updateMany({ $or: [undefinedOrg] }, { $set: { n: 1 } })).rejects.toThrow();
        expect(await things.countDocuments({})).toBe(4);
      });
    });

    test("finds what was written last, however often the same was asked before", async () => {
      const namesOf = async () =>
        (await things.find({ org: "o" }, { sort: { _id: 1 }, limit: 50 }).toArray()).map(({ n }) => n);
      await things.deleteMany({});
      const writes: [() => Promise<unknown>, unknown[]][] = [
        [() => things.insertOne({ _id: "1", org: "o", n: 1 }), [1]],
        [() => things.insertMany([{ _id: "2", org: "o", n: 2 }]), [1, 2]],
        [() => things.updateOne({ _id: "1" }, { $set: { n: 3 } }), [3, 2]],
        [() => things.updateMany({ org: "o" }, { $inc: { n: 1 } }), [4, 3]],
        [() => things.findOneAndUpdate({ _id: "2" }, { $set: { org: "p" } }, {}), [4]],
        [
          () => things.bulkWrite([{ updateOne: { filter: { org: "p", n: 3 }, update: { $set: { org: "o" } } } }]),
          [4, 3],
        ],
        [() => things.findOneAndDelete({ _id: "1" }, {}), [3]],
        [() => things.deleteOne({ _id: "2" }), []],
      ];
      for (const [write, expected] of writes) {
        const meanwhile = Promise.all([namesOf(), namesOf()]);
        await write();
        for (let i = 0; i < 3; i++) expect(await namesOf()).toEqual(expected);
        await meanwhile;
        expect(await namesOf()).toEqual(expected);
      }
    });

    describe("inserts", () => {
      test("in order: what is read beside them never has one without those before it", async () => {
        const ids = Array.from({ length: 300 }, (_, i) => `ordered-${String(i).padStart(3, "0")}`);
        let isDone = false;
        const writes = ids.map((_id) => () => things.insertOne({ _id }));
        const writing = store.inOrder(writes).finally(() => {
          isDone = true;
        });
        for (let looks = 0; !isDone || looks < 2; looks++) {
          const found = await things
            .find({ _id: { $gte: "ordered-", $lt: "ordered." } }, { sort: { _id: 1 } })
            .toArray();
          expect(found.map(({ _id }) => _id)).toEqual(ids.slice(0, found.length));
          await nextTurn();
        }
        await writing;
        expect(await things.countDocuments({ _id: { $in: ids } })).toBe(ids.length);
        const taken = [() => things.insertOne({ _id: "ordered-300" }), () => things.insertOne({ _id: "ordered-000" })];
        await expect(store.inOrder(taken)).rejects.toSatisfy(isDuplicateKey);
        await things.deleteMany({ _id: { $in: [...ids, "ordered-300"] } });
      });
      test("with a string id of its own making where there is none", async () => {
        const { insertedId } = await things.insertOne({ org: "z" } as unknown as Thing);
        expect(insertedId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
        expect(await things.findOne({ _id: insertedId as string })).toEqual({ _id: insertedId, org: "z" });
      });

      test("without the fields that are undefined", async () => {
        await things.insertOne({ _id: "e", email: undefined, nested: { k: undefined, l: 1 } });
        expect(await things.findOne({ _id: "e" })).toEqual({ _id: "e", nested: { l: 1 } });
        expect(await idsOf({ email: { $exists: true } })).toBe("a");
      });

      test("nothing under an id that is taken", async () => {
        expect(await codeOf(things.insertOne({ _id: "a" }))).toBe(11000);
        expect((await things.findOne({ _id: "a" }))?.org).toBe("o");
      });

      test("nothing under a unique value that is taken", async () => {
        const failure = await things.insertOne({ _id: "e", email: "a@x" }).catch((error: unknown) => error);
        expect(isDuplicateKey(failure)).toBe(true);
        expect(await things.countDocuments({ _id: "e" })).toBe(0);
      });

      test("several without the field of a sparse unique index", async () => {
        await things.insertOne({ _id: "e" });
        await things.insertOne({ _id: "f" });
        expect(await things.countDocuments({})).toBe(6);
      });

      test("no array that shares an element with another under a unique index", async () => {
        await things.insertOne({ _id: "e", codes: ["1", "2", "1"] });
        expect(await codeOf(things.insertOne({ _id: "f", codes: ["3", "2"] }))).toBe(11000);
        await things.insertOne({ _id: "g", codes: ["3"] });
        expect(await idsOf({ codes: "3" })).toBe("g");
      });

      test("many in order, up to the first that fails", async () => {
        const failure = await things
          .insertMany([{ _id: "e" }, { _id: "a" }, { _id: "f" }])
          .catch((error: unknown) => error);
        expect(isDuplicateKey(failure)).toBe(true);
        expect(insertedBefore(failure)).toBe(1);
        expect(await idsOf({ _id: { $in: ["e", "f"] } })).toBe("e");
      });

      test("many without order, all but those that fail", async () => {
        const documents = [{ _id: "e" }, { _id: "a" }, { _id: "f", email: "a@x" }, { _id: "g" }];
        expect(await codeOf(things.insertMany(documents, { ordered: false }))).toBe(11000);
        expect(await idsOf({ _id: { $in: ["e", "f", "g"] } })).toBe("eg");
      });
    });

    describe("updates", () => {
      test.each(UPDATES)("%s", async (_title, update, fields) => {
        const outcome = await things.updateOne({ _id: "a" }, update as UpdateFilter<Thing>);
        expect(outcome).toMatchObject({ acknowledged: true, matchedCount: 1, modifiedCount: 1, upsertedCount: 0 });
        const after = (await things.findOne({ _id: "a" })) as Thing;
        for (const [path, value] of Object.entries(fields)) expect(at_(after, path)).toEqual(value);
      });

      test("the date to now", async () => {
        await things.updateOne({ _id: "b" }, { $currentDate: { seen: true } });
        expect((await things.findOne({ _id: "b" }))?.seen).toBeInstanceOf(Date);
      });

      test("the element that the filter found", async () => {
        await things.updateOne({ _id: "a", "items.s": 2 }, { $set: { "items.$.q": 71 } });
        expect((await things.findOne({ _id: "a" }))?.items[1]).toEqual({ s: 2, q: 71 });
      });

      test("the elements that array filters find", async () => {
        await things.updateOne({ _id: "a" }, { $set: { "items.$[i].q": 70 } }, { arrayFilters: [{ "i.s": 2 }] });
        expect((await things.findOne({ _id: "a" }))?.items.map(({ q }: Document) => q)).toEqual([5, 70]);
        await things.updateOne({ _id: "a" }, { $inc: { "items.$[].q": 1 } });
        expect((await things.findOne({ _id: "a" }))?.items.map(({ q }: Document) => q)).toEqual([6, 71]);
      });

      test("what its index finds", async () => {
        await things.updateOne({ _id: "a" }, { $set: { tags: ["w"], email: "b@x" } });
        expect(await idsOf({ tags: "x" })).toBe("");
        expect(await idsOf({ tags: "w" })).toBe("a");
        expect(await things.findOne({ email: "a@x" })).toBeNull();
        expect((await things.findOne({ email: "b@x" }))?._id).toBe("a");
      });

      test("nothing, and says so, when nothing changes", async () => {
        const outcome = await things.updateOne({ _id: "b" }, { $set: { n: 2 } });
        expect(outcome).toMatchObject({ matchedCount: 1, modifiedCount: 0 });
        expect(await things.updateOne({ _id: "zz" }, { $set: { n: 2 } })).toMatchObject({ matchedCount: 0 });
      });

      test("no id", async () => {
        expect(await codeOf(things.updateOne({ _id: "a" }, { $set: { _id: "z" } }))).toBe(66);
        expect(await idsOf({})).toBe("abcd");
      });

      test("nothing to a unique value that is taken", async () => {
        expect(await codeOf(things.updateOne({ _id: "b" }, { $set: { email: "a@x", n: 9 } }))).toBe(11000);
        expect((await things.findOne({ _id: "b" }))?.n).toBe(2);
      });

      test("nothing by a document without operators", async () => {
        await expect(async () => things.updateOne({ _id: "a" }, { n: 1 } as never)).rejects.toThrow();
      });

      test("many", async () => {
        const outcome = await things.updateMany({ org: "o" }, { $set: { flag: true }, $inc: { hits: 1 } });
        expect(outcome).toMatchObject({ matchedCount: 3, modifiedCount: 3 });
        expect(await idsOf({ flag: true, hits: 1 })).toBe("abc");
      });

      test("or inserts, from the filter's equalities and $setOnInsert, once", async () => {
        const upsert = () =>
          things.updateOne(
            { org: "new", k: { $eq: 3 }, m: { $gt: 1 } },
            { $set: { m: 5 }, $inc: { v: 1 }, $setOnInsert: { w: 2 } },
            { upsert: true },
          );
        expect(await upsert()).toMatchObject({ matchedCount: 0, modifiedCount: 0, upsertedCount: 1 });
        expect(await upsert()).toMatchObject({ matchedCount: 1, modifiedCount: 1, upsertedCount: 0 });
        const { _id, ...fields } = (await things.findOne({ org: "new" })) as Thing;
        expect(fields).toEqual({ org: "new", k: 3, m: 5, v: 2, w: 2 });
        expect(_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      });

      test("or inserts under the id of the filter", async () => {
        await things.updateOne({ _id: "e" }, { $setOnInsert: { n: 1 } }, { upsert: true });
        expect(await things.findOne({ _id: "e" })).toEqual({ _id: "e", n: 1 });
      });
    });

    describe("updates one and returns it", () => {
      test("as it was, and as it is", async () => {
        const before = await things.findOneAndUpdate({ _id: "a" }, { $inc: { n: 1 } }, {});
        expect(before?.n).toBe(1);
        const after = await things.findOneAndUpdate({ _id: "a" }, { $inc: { n: 1 } }, { returnDocument: "after" });
        expect(after?.n).toBe(3);
      });

      test("or nothing when none matches", async () => {
        expect(await things.findOneAndUpdate({ _id: "a", n: 99 }, { $inc: { n: 1 } }, {})).toBeNull();
        expect((await things.findOne({ _id: "a" }))?.n).toBe(1);
      });

      test("the first by a sort, with only the fields asked for", async () => {
        const options = { sort: { createdAt: -1 }, projection: { n: 1 }, returnDocument: "after" } as const;
        expect(await things.findOneAndUpdate({ org: "o" }, { $set: { n: 9 } }, options)).toEqual({ _id: "c", n: 9 });
      });

      test("or inserts it", async () => {
        const upsert = (returnDocument: "before" | "after") =>
          things.findOneAndUpdate(
            { _id: `new-${returnDocument}` },
            { $set: { n: 1 } },
            { upsert: true, returnDocument },
          );
        expect(await upsert("before")).toBeNull();
        expect(await upsert("after")).toEqual({ _id: "new-after", n: 1 });
      });
    });

    describe("deletes", () => {
      test("one, and its index entries", async () => {
        expect(await things.deleteOne({ email: "a@x" })).toMatchObject({ deletedCount: 1 });
        expect(await things.deleteOne({ email: "a@x" })).toMatchObject({ deletedCount: 0 });
        expect(await idsOf({ tags: "x" })).toBe("");
        await things.insertOne({ _id: "e", email: "a@x" });
      });

      test("one and returns it", async () => {
        expect((await things.findOneAndDelete({ org: "o" }, { sort: { createdAt: -1 } }))?._id).toBe("c");
        expect(await things.findOneAndDelete({ org: "none" }, {})).toBeNull();
      });

      test("many", async () => {
        expect(await things.deleteMany({ org: "o" })).toMatchObject({ deletedCount: 3 });
        expect(await idsOf({})).toBe("d");
      });
    });

    describe("writes in bulk", () => {
      test("in order", async () => {
        const result = await things.bulkWrite([
          { insertOne: { document: { _id: "e", n: 1 } } },
          { updateOne: { filter: { _id: "e" }, update: { $inc: { n: 1 } } } },
          { updateOne: { filter: { _id: "f" }, update: { $set: { n: 5 } }, upsert: true } },
          { deleteOne: { filter: { _id: "a" } } },
          { deleteOne: { filter: { _id: "zz" } } },
        ]);
        expect(result).toMatchObject({ insertedCount: 1, modifiedCount: 1, deletedCount: 1 });
        expect(await idsOf({ n: { $in: [2, 5] } })).toBe("bef");
      });

      test("up to the first that fails, or all but those", async () => {
        const operations = (id: string) => [
          { insertOne: { document: { _id: id } } },
          { insertOne: { document: { _id: "a" } } },
          { deleteOne: { filter: { _id: id } } },
        ];
        expect(await codeOf(things.bulkWrite(operations("e")))).toBe(11000);
        expect(await codeOf(things.bulkWrite(operations("f"), { ordered: false }))).toBe(11000);
        expect(await idsOf({ _id: { $in: ["e", "f"] } })).toBe("e");
      });
    });

    describe("under concurrency", () => {
      test("lets one of 200 claims win", async () => {
        await things.insertOne({ _id: "job", state: "queued" });
        const claim = (by: number) =>
          things.findOneAndUpdate({ _id: "job", state: "queued" }, { $set: { state: "running", by } }, {});
        const claims = await Promise.all(Array.from({ length: 200 }, (_, i) => claim(i)));
        expect(claims.filter((job) => job !== null)).toHaveLength(1);
      });

      test("loses none of 200 increments", async () => {
        await things.insertOne({ _id: "counter", n: 0 });
        await Promise.all(Array.from({ length: 200 }, () => things.updateOne({ _id: "counter" }, { $inc: { n: 1 } })));
        expect((await things.findOne({ _id: "counter" }))?.n).toBe(200);
      });

      test("lets one of 50 have a unique value", async () => {
        const inserts = Array.from({ length: 50 }, (_, i) => things.insertOne({ _id: `u${i}`, email: "same" }));
        const settled = await Promise.allSettled(inserts);
        expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        expect(await things.countDocuments({ email: "same" })).toBe(1);
      });
    });

    test.skipIf(!backend.sweeps)(
      titled("deletes what has expired", backend.sweeps ? undefined : "this server sweeps once a minute or never"),
      async () => {
        const later = new Date(Date.now() + 3_600_000);
        await things.insertMany([
          { _id: "over", exp: at(0) },
          { _id: "later", exp: later },
          { _id: "no date", exp: "never" },
        ]);
        await vi.waitFor(async () => expect(await things.countDocuments({ _id: "over" })).toBe(0), 5_000);
        expect(await things.countDocuments({ exp: { $exists: true } })).toBe(2);
      },
    );

    describe("is declared", () => {
      test("again with other indexes, which then hold for what is there", async () => {
        const name = "declared";
        await store.ensure([{ name, indexes: [{ name: "n", key: { n: 1 } }] }]);
        const collection = store.collection<Thing>(name);
        await collection.insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: `d${i}`, n: i % 10, m: i })));
        await store.ensure([{ name, indexes: [{ name: "m", key: { m: 1 }, unique: true }] }]);
        expect((await collection.findOne({ m: 321 }))?._id).toBe("d321");
        expect(await codeOf(collection.insertOne({ _id: "e", m: 321 }))).toBe(11000);
        await store.ensure([{ name, indexes: [{ name: "m", key: { m: -1 } }] }]);
        await collection.insertOne({ _id: "e", m: 321 });
        expect(await collection.countDocuments({ m: 321 })).toBe(2);
      });

      test("but not with a unique index that documents break", async () => {
        const name = "broken";
        await store.ensure([{ name, indexes: [] }]);
        const collection = store.collection<Thing>(name);
        await collection.deleteMany({});
        await collection.insertMany([
          { _id: "a", n: 1 },
          { _id: "b", n: 1 },
        ]);
        const unique = { name, indexes: [{ name: "n", key: { n: 1 }, unique: true }] } as const;
        expect(await codeOf(store.ensure([unique]))).toBe(11000);
        await collection.deleteOne({ _id: "b" });
        await store.ensure([unique]);
        expect(await codeOf(collection.insertOne({ _id: "b", n: 1 }))).toBe(11000);
      });

      test("with migrations, each of which runs once and none backwards", async () => {
        const rename = { filter: { title: { $exists: true } }, update: { $rename: { title: "name" } } };
        const count = { filter: {}, update: { $inc: { runs: 1 } } };
        const spec = { name: `migrated-${process.pid}-${Date.now()}`, indexes: [] };
        await store.ensure([spec]);
        const collection = store.collection<Thing>(spec.name);
        await collection.insertOne({ _id: "a", title: "t" });
        await store.ensure([{ ...spec, migrations: [rename] }]);
        await store.ensure([{ ...spec, migrations: [rename, count] }]);
        await store.ensure([{ ...spec, migrations: [rename, count] }]);
        expect(await collection.findOne({ _id: "a" })).toEqual({ _id: "a", name: "t", runs: 1 });
        await expect(store.ensure([{ ...spec, migrations: [rename] }])).rejects.toThrow(
          "has schema version 2, and this version of the product knows only versions up to 1",
        );
      });

      test("with a unique index that follows a field to its new name", async () => {
        const name = `renamed-${process.pid}-${Date.now()}`;
        const unique = (field: string) => ({ name: "word", key: { [field]: 1 as const }, unique: true });
        await store.ensure([{ name, indexes: [unique("oldWord")] }]);
        const collection = store.collection<Thing>(name);
        await collection.insertMany([
          { _id: "a", oldWord: "x", n: 1 },
          { _id: "b", oldWord: "y", n: 2 },
        ]);
        const rename = { filter: { oldWord: { $exists: true } }, update: { $rename: { oldWord: "new_word" } } };
        const spec = { name, indexes: [unique("new_word")], migrations: [rename] };
        await store.ensure([spec]);
        await store.ensure([spec]);
        expect(await collection.findOne({ new_word: "y" })).toEqual({ _id: "b", new_word: "y", n: 2 });
        expect(await codeOf(collection.insertOne({ _id: "c", new_word: "x" }))).toBe(11000);
        await collection.insertOne({ _id: "c", new_word: "z" });
        expect(await collection.countDocuments({ oldWord: { $exists: true } })).toBe(0);
      });
    });

    test("answers a ping", async () => {
      await store.ping();
      expect(proof).toBe(true);
    });
  });
}

/** structuredClone makes a plain Uint8Array of a Buffer. */
function binaryOf({ bytes }: Thing): Document {
  return bytes ? { bytes: Buffer.from(bytes) } : {};
}

function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "succeeded",
    (error: { code?: unknown }) => error.code ?? error,
  );
}

function at_(document: Document, path: string): unknown {
  return path.split(".").reduce<unknown>((node, name) => (node as Document | undefined)?.[name], document);
}
