import { describe, expect, test } from "vitest";
import { KeptResults } from "../../../../../services/shared/store/embedded/kept-results.js";

/** The state of a collection, as its records say it. */
function collection() {
  const records = { version: 1 as number | undefined };
  return { records, kept: new KeptResults(records) };
}

const OPTIONS = { limit: 3, hint: "access" };
const keyOf = (kept: KeptResults, filter: object) => kept.keyOf(filter, OPTIONS) as string;

function askTwice(kept: KeptResults, key: string, found: object[]) {
  for (let i = 0; i < 2; i++) kept.keep(key, found, kept.version);
}

describe("results of queries", () => {
  test("are kept when they are asked for a second time, and cannot be changed", () => {
    const { kept } = collection();
    const key = keyOf(kept, { access: "1:all" });
    const found = [{ _id: "a", labels: ["x"], made: { by: "b" } }];
    kept.keep(key, found, kept.version);
    expect(kept.get(key)).toBeUndefined();
    kept.keep(key, found, kept.version);
    expect(kept.get(key)).toEqual(found);
    expect(() => kept.get(key)?.[0]?.labels.push("y")).toThrow(TypeError);
    expect(() => Object.assign(kept.get(key)?.[0]?.made, { by: "c" })).toThrow(TypeError);
  });

  test("end with a write, also one that is under way", () => {
    const { kept, records } = collection();
    const key = keyOf(kept, { access: "1:all" });
    askTwice(kept, key, []);
    records.version = undefined;
    expect(kept.get(key)).toBeUndefined();
    askTwice(kept, key, []);
    records.version = 2;
    expect(kept.get(key)).toBeUndefined();
    const begun = kept.version;
    records.version = 3;
    kept.keep(key, [], begun);
    kept.keep(key, [], begun);
    expect(kept.get(key)).toBeUndefined();
  });

  test("have a name only where JSON tells a query from every other", () => {
    const { kept } = collection();
    const named = [{ a: "1" }, { a: 1 }, { a: null }, { a: { $in: ["1"] } }, { a: { $gt: "1" } }, { b: "1" }];
    expect(new Set(named.map((filter) => keyOf(kept, filter))).size).toBe(named.length);
    const unnamed = [{ a: /1/ }, { a: new Date(1) }, { a: Number.NaN }, { a: Number.POSITIVE_INFINITY }];
    for (const filter of [...unnamed, { a: new Uint8Array(1) }, { a: 1n }]) expect(keyOf(kept, filter)).toBeUndefined();
    expect(kept.keyOf({ a: 1 }, {})).toBeUndefined();
    expect(kept.keyOf({ a: "x".repeat(2_048) }, OPTIONS)).toBeUndefined();
    expect(kept.keyOf({ a: 1 }, { limit: 1, sort: new Map([["a", 1 as const]]) })).toBeUndefined();
  });

  test("are bounded in length, and bytes are not kept", () => {
    const { kept } = collection();
    const long = keyOf(kept, { a: "long" });
    askTwice(kept, long, [{ text: "x".repeat(70_000) }]);
    expect(kept.get(long)).toBeUndefined();
    const bytes = keyOf(kept, { a: "bytes" });
    askTwice(kept, bytes, [{ vector: new Uint8Array(8) }]);
    expect(kept.get(bytes)).toBeUndefined();
    const many = Array.from({ length: 20 }, (_, i) => keyOf(kept, { a: String(i) }));
    for (const key of many) askTwice(kept, key, [{ text: "x".repeat(60_000) }]);
    expect(many.filter((key) => kept.get(key) !== undefined).length).toBe(8);
  });
});
