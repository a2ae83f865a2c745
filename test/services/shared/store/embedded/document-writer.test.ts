import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import type { Document } from "mongodb";
import { describe, expect, test } from "vitest";
import { DocumentWriter } from "../../../../../services/shared/store/embedded/document-writer.js";
import { storable } from "../../../../../services/shared/store/embedded/values.js";
import { DOCUMENTS, ODD, ODD_NAMES, useCoder } from "./documents.js";

const coder = useCoder();
const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString("hex");
const expected = (document: object): string | undefined => hex(coder.encode(document));

/** Asks for the documents of some source, and says how many of them were written here. */
function writtenHere(documents: fc.Arbitrary<Document>, numRuns: number): number {
  const writer = new DocumentWriter();
  let here = 0;
  fc.assert(
    fc.property(documents, (document) => {
      const bytes = writer.write(document);
      if (bytes === undefined) return;
      here++;
      expect(hex(bytes)).toBe(expected(document));
    }),
    { numRuns },
  );
  return here;
}

describe("documents are written as the library writes them, or not at all", () => {
  test("with what nearly all have", () => {
    expect(writtenHere(DOCUMENTS, 400)).toBeGreaterThan(20);
  });

  test("with odd texts, names, numbers and times", () => {
    const fields = fc.array(fc.tuple(ODD_NAMES, ODD.value), { maxLength: 6 });
    const stored = fields.map((some) => storable({ ...Object.fromEntries(some), _id: "a" }));
    expect(writtenHere(stored, 1_000)).toBeGreaterThan(100);
  });

  test("such as the descriptions of the packages that are installed, which others wrote", () => {
    const writer = new DocumentWriter();
    const paths = readdirSync("node_modules").map((name) => join("node_modules", name, "package.json"));
    const packages = paths.filter(existsSync).map((path) => JSON.parse(readFileSync(path, "utf8")) as Document);
    const [here, left] = [[] as Document[], [] as Document[]];
    for (const document of packages) (writer.write(document) === undefined ? left : here).push(document);
    for (const document of here) expect(hex(writer.write(document))).toBe(expected(document));
    expect(here.length).toBeGreaterThan(left.length);
  });

  test.each([
    [
      "a record of the audit",
      { _id: "0000000000000001", arguments: ["a", "b"], count: 1, at: new Date(1_764_500_000_123) },
    ],
    ["an empty one", {}],
    ["whole seconds", { at: new Date(1_764_500_000_000) }],
    ["numbers of each length", { n: [0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 0.5, -0.5, -0] }],
    [
      "texts of each length",
      { t: ["", "x".repeat(31), "x".repeat(32), "x".repeat(63), "x".repeat(64), "x".repeat(255)] },
    ],
    ["longer texts", { t: ["x".repeat(256), "é".repeat(16), "é".repeat(31), "é".repeat(128), "\u{1f600}".repeat(90)] }],
    ["what is in it", { a: { b: { c: [{ d: null }, [true, false]] } } }],
  ])("%s is written here", (_what, document) => {
    expect(hex(new DocumentWriter().write(document))).toBe(expected(document));
  });
});

test.each([
  ["half of a surrogate pair", { t: "\ud800" }],
  ["a negative whole number", { n: -1 }],
  ["a time before 1970", { at: new Date(-1) }],
  ["no time", { at: new Date(Number.NaN) }],
  ["bytes", { b: Buffer.from("a") }],
  ["a value that is not given", { a: undefined }],
  ["a long list", { l: Array(16).fill(1) }],
  ["a long text", { t: "x".repeat(32_768) }],
  ["many texts", { a: "x".repeat(20_000), b: "x".repeat(20_000) }],
  ["a long name", { ["n".repeat(32)]: 1 }],
  ["a name of other letters", { né: 1 }],
  ["another object", { a: new Map() }],
])("%s is for the library, and what is written next is whole", (_what, document) => {
  const writer = new DocumentWriter();
  expect(writer.write({ a: 1, ...document })).toBeUndefined();
  expect(hex(writer.write({ a: 1 }))).toBe(expected({ a: 1 }));
});

test("a document that is deeper than any is for the library", () => {
  const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });
  const writer = new DocumentWriter();
  expect(hex(writer.write(nested(16)))).toBe(expected(nested(16)));
  expect(writer.write(nested(17))).toBeUndefined();
});

test("names that are data do not fill the memory, and those that were forgotten are written again", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const writer = new DocumentWriter();
  writer.write({ first: 1 });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 200_000; i++) writer.write({ [`name_${i}`]: i });
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 << 20);
  expect(hex(writer.write({ first: 1 }))).toBe(expected({ first: 1 }));
});

test("what was written stays as it is when others are", () => {
  const writer = new DocumentWriter();
  const first = writer.write({ a: "first" });
  for (let i = 0; i < 100; i++) writer.write({ a: "x".repeat(i) });
  expect(hex(first)).toBe(expected({ a: "first" }));
});
