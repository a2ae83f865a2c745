import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { EmbeddedCollection } from "../../../../../services/shared/store/embedded/collection.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { matcherOf } from "../../../../../services/shared/store/embedded/matcher.js";
import type { Base, DocCollection, Look, Store, Way } from "../../../../../services/shared/store/store.js";

interface Thing extends Base {
  readonly order: string;
  readonly who?: readonly string[];
  readonly kind?: string;
  readonly sort?: string;
  readonly rare?: true;
  readonly n: number;
}

const COUNT = 400;
const KINDS = ["a", "b", "", "long ".repeat(60), `${"long ".repeat(60)}!`];
const WHOS = ["u", "v", "w", ...Array.from({ length: 12 }, (_, i) => `g${i}`)];

let folder: string;
let store: Store;
let things: DocCollection<Thing>;
const all: Thing[] = [];
/** Documents whose bytes were read since this was emptied. */
const read: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "search-"));
  store = await openEmbeddedStore(folder);
  const indexes = [
    { name: "who", key: { who: 1, order: -1 } },
    { name: "kind", key: { kind: 1, order: -1 } },
    { name: "both", key: { kind: 1, n: 1, order: -1 } },
    { name: "up", key: { sort: 1, order: 1 } },
    { name: "rare", key: { rare: 1, order: -1 }, sparse: true },
    { name: "one", key: { sort: 1, order: -1 }, unique: true },
    { name: "down", key: { sort: 1, order: -1 } },
    { name: "order", key: { order: -1 } },
  ] as const;
  await store.ensure([{ name: "things", indexes }]);
  things = store.collection<Thing>("things");
  for (let i = 0; i < COUNT; i++) {
    all.push({
      // In another order than they are listed in.
      _id: `${(i * 7_919) % COUNT}`.padStart(4, "0"),
      order: String(i).padStart(5, "0"),
      ...(i % 11 !== 0 && { who: WHOS.filter((_, w) => (i * (w + 3)) % 5 < 2) }),
      ...(i % 7 !== 0 && { kind: KINDS[(i * i) % KINDS.length]! }),
      sort: KINDS[i % 3]!,
      ...(i % 20 === 0 && { rare: true as const }),
      n: i % 4,
    });
  }
  await things.insertMany(all);
  const { documents } = (things as unknown as EmbeddedCollection).records;
  const { getBinaryFast } = documents;
  documents.getBinaryFast = (id: Buffer, ...rest: []) => {
    read.push(id.toString("latin1"));
    return getBinaryFast.call(documents, id, ...rest);
  };
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const WAYS: fc.Arbitrary<Way<Thing>> = fc.oneof(
  fc.constantFrom(...WHOS, "nobody").map((who) => ({ index: "who", by: { who } as never })),
  fc.subarray(WHOS, { minLength: 1 }).map((some) => ({ index: "who", by: { who: { $in: some } } as never })),
  fc.constantFrom(...KINDS).map((kind) => ({ index: "kind", by: { kind } })),
  fc.tuple(fc.constantFrom(...KINDS), fc.nat(3)).map(([kind, n]) => ({ index: "both", by: { kind, n } })),
  fc
    .tuple(fc.constantFrom("one", "up", "down"), fc.constantFrom(...KINDS))
    .map(([index, sort]) => ({ index, by: { sort } })),
  fc.constant({ index: "rare", by: { rare: true as const } }),
  fc.constant({ index: "order", by: {} }),
);
const WANTED = fc.constantFrom<Look<Thing>["wanted"]>(
  {},
  { n: 2 },
  { n: { $gte: 2 } },
  { kind: "a" },
  { kind: { $ne: "a" } },
  { $or: [{ who: "u" }, { n: 0 }] },
);
const LOOKS = fc.record({
  ways: fc.tuple(WAYS, fc.array(WAYS, { maxLength: 2 })).map(([one, others]): Look<Thing>["ways"] => [one, ...others]),
  wanted: WANTED,
  direction: fc.constantFrom(1 as const, -1 as const),
  range: fc.constantFrom({}, { $gte: "00100" }, { $gte: "00050", $lt: "00300" }),
  limit: fc.integer({ min: 1, max: 30 }),
  most: fc.integer({ min: 1, max: 120 }),
  projection: fc.constantFrom(undefined, { order: 1 }, { n: 0, sort: 0 }),
});

/** What matches, in order. */
function expectedOf({ ways, wanted, direction, range }: Omit<Look<Thing>, "order">): readonly Thing[] {
  const { $gte = "", $lt = "~" } = range;
  const matches = matcherOf({ $and: [...ways.map(({ by }) => by), wanted, { n: { $gte: 0 } }] });
  const found = all.filter((one) => matches(one) && one.order >= $gte && one.order < $lt);
  return direction === 1 ? found : found.toReversed();
}

test("what is found along several ways is what is on all of them, in order, up to where looking ended", async () => {
  let [found, ended] = [0, 0];
  await fc.assert(
    fc.asyncProperty(LOOKS, async (asked) => {
      const looked = await things.look({ ...asked, order: "order" });
      const expected = expectedOf(asked);
      const isBefore = (one: string, other: string) => (asked.direction === 1 ? one <= other : one >= other);
      const { end } = looked;
      const due =
        end === undefined ? expected.slice(0, asked.limit) : expected.filter(({ order }) => isBefore(order, end));
      expect(looked.found.map(({ order }) => order)).toEqual(due.map(({ order }) => order));
      for (const one of looked.found) expect(one).toEqual(shownOf(one.order, asked.projection));
      found += looked.found.length;
      ended += end === undefined ? 0 : 1;
    }),
    { numRuns: 1_000 },
  );
  expect(found).toBeGreaterThan(1_000);
  expect(ended).toBeGreaterThan(50);
});

function shownOf(order: string, projection: Readonly<Record<string, number>> | undefined): object {
  const whole = all.find((one) => one.order === order)!;
  if (projection === undefined) return whole;
  if ("order" in projection) return { _id: whole._id, order };
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !(name in projection)));
}

test("of documents that the keys tell not to be on every way none is read, and of the others each once", async () => {
  const ways = [
    { index: "who", by: { who: "u" } as never },
    { index: "kind", by: { kind: "a" } },
  ] as const;
  const asked = { ways, wanted: {}, direction: -1, range: {}, limit: 20, most: 500 } as const;
  read.length = 0;
  // Within one slice of time: before it gives way, a scan reads where it has come to.
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  const { found } = await things.look({ ...asked, order: "order" }).finally(() => clock.mockRestore());
  expect(found).toHaveLength(20);
  expect(read).toHaveLength(20);
  expect(new Set(read).size).toBe(20);
});
