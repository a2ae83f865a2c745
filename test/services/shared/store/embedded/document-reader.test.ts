import { deepStrictEqual } from "node:assert/strict";
import { inspect } from "node:util";
import fc from "fast-check";
import type { Document } from "mongodb";
import { expect, test, vi } from "vitest";
import { type Decode, DocumentReader } from "../../../../../services/shared/store/embedded/document-reader.js";
import { EVERY_FIELD, type Fields } from "../../../../../services/shared/store/embedded/fields.js";
import { storable } from "../../../../../services/shared/store/embedded/values.js";
import { DOCUMENTS, ODD, ODD_NAMES, SCALARS, useCoder } from "./documents.js";

const coder = useCoder();
const encoded = (value: unknown): Buffer => Buffer.from(coder.encode(value));

function reader(fields: Fields = EVERY_FIELD) {
  const decode = vi.fn<Decode>((bytes, end) => coder.decode(bytes, end));
  return { decode, reading: new DocumentReader(decode, fields) };
}

test("documents are read as the library reads them, and without it", () => {
  const { decode, reading } = reader();
  let here = 0;
  fc.assert(
    fc.property(DOCUMENTS, (document) => {
      const bytes = encoded(document);
      const before = decode.mock.calls.length;
      deepStrictEqual(reading.read(bytes), coder.decode(bytes));
      if (decode.mock.calls.length === before) here++;
    }),
    { numRuns: 300 },
  );
  // Names that are data fill what is remembered of them.
  expect(here).toBeGreaterThan(5);
});

const TOLD = ["text", "n", "other", "deep"];
const shown = (value: unknown): string => inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null });

test("odd texts, names, numbers and times are read as the library reads them, with their fields in the same order", () => {
  const document = fc.array(fc.tuple(ODD_NAMES, ODD.value), { maxLength: 24 });
  fc.assert(
    fc.property(fc.array(document, { minLength: 1, maxLength: 4 }), (some) => {
      const { reading } = reader();
      for (const fields of some) {
        const bytes = encoded(storable({ ...Object.fromEntries(fields), _id: "a" }));
        const expected = shown(coder.decode(bytes));
        for (let times = 0; times < 2; times++) expect(shown(reading.read(bytes))).toBe(expected);
      }
    }),
    { numRuns: 40 },
  );
});

test("documents of a few lists of fields are all read here, whatever their values", () => {
  const { decode, reading } = reader();
  const fields = Array.from({ length: 30 }, (_, i) => `field_${i}`);
  const some = fc.tuple(fc.array(SCALARS, { minLength: 30, maxLength: 30 }), fc.constantFrom(3, 17, 30));
  fc.assert(
    fc.property(some, ([values, count]) => {
      const document = Object.fromEntries(fields.slice(0, count).map((name, i) => [name, values[i]]));
      const bytes = encoded(document);
      const expected = coder.decode(bytes);
      deepStrictEqual(reading.read(bytes), expected);
      deepStrictEqual(reading.read(Buffer.concat([bytes, Buffer.from("more")]), bytes.length), expected);
    }),
  );
  expect(decode).not.toHaveBeenCalled();
});

test("of some fields, or of all but some, no others are read, and these as they are", () => {
  const names = fc.subarray(["_id", "a", "b", "list", "inner", "at", "not there", ...TOLD]);
  fc.assert(
    fc.property(
      names,
      fc.boolean(),
      fc.array(fc.dictionary(fc.constantFrom(...TOLD), ODD.value)),
      (some, areLeftOut, documents) => {
        const { reading } = reader({ names: some, areLeftOut });
        for (const document of documents) {
          const whole = {
            _id: "a",
            ...document,
            list: [1, [2]],
            inner: { b: { c: 1 } },
            a: 70_000,
            at: new Date(5),
            b: "x".repeat(300),
          };
          const bytes = encoded(storable(whole));
          const expected = Object.entries(coder.decode(bytes) as Document).filter(
            ([name]) => some.includes(name) !== areLeftOut,
          );
          for (let times = 0; times < 2; times++)
            expect(shown(reading.read(bytes))).toBe(shown(Object.fromEntries(expected)));
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("values of every length are passed by it", () => {
  const values = [
    0,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    2 ** 32 - 1,
    -1,
    -32,
    -33,
    -128,
    -129,
    -32_769,
    0.5,
    null,
    true,
    false,
  ];
  const texts = [0, 1, 31, 32, 255, 256, 65_535, 65_536].map((length) => "x".repeat(length));
  const others = [
    Buffer.alloc(300, 1),
    Buffer.alloc(70_000),
    new Date(1_000),
    new Date(1_001),
    [],
    Array(20).fill("é"),
    {},
    { a: { b: [1] } },
  ];
  const { decode, reading } = reader({ names: ["last"], areLeftOut: false });
  for (const value of [...values, ...texts, ...others, Object.fromEntries(values.map((n, i) => [`n${i}`, n]))])
    expect(reading.read(encoded({ _id: "a", value, list: [value, value], last: 7 }))).toEqual({ last: 7 });
  expect(decode).not.toHaveBeenCalled();
});

test("a list of fields that is read often is read as before", () => {
  const names = ["constructor", "toString", "0", 'a"b', "a\\b", "`x`", "\u2028", "é", "__proto", "return"];
  const { decode, reading } = reader();
  for (let n = 0; n < 300; n++) {
    const document = Object.fromEntries(["_id", ...names].map((name, i) => [name, n % 3 === 0 ? i : `${n}`]));
    const bytes = encoded({ ...document, inner: { ...document, more: n } });
    expect(shown(reading.read(bytes))).toBe(shown(coder.decode(bytes)));
  }
  expect(decode).not.toHaveBeenCalled();
});

test("names in documents that are data are read, however many there are", () => {
  const { decode, reading } = reader();
  for (let n = 0; n < 3_000; n++) {
    const bytes = encoded({ _id: "a", by_name: { [`name_${n}`]: n, more: { [`x${n}`]: [n] } } });
    expect(reading.read(bytes)).toEqual(coder.decode(bytes));
  }
  expect(decode).not.toHaveBeenCalled();
});

test("no two documents share what can be changed in them", () => {
  const { reading } = reader();
  const bytes = encoded({ _id: "a", list: [1], inner: { b: 1 } });
  const [one, other] = [reading.read(bytes), reading.read(bytes)] as [Document, Document];
  one.list.push(2);
  one.inner.b = 2;
  one.more = true;
  expect(other).toEqual({ _id: "a", list: [1], inner: { b: 1 } });
  expect(reading.read(bytes)).toEqual({ _id: "a", list: [1], inner: { b: 1 } });
});

test("what is left to the library: half of a surrogate pair, long names, other values than documents", () => {
  const { decode, reading } = reader();
  for (const value of [
    { a: "\ud800 and the rest" },
    { a: new Date("2400-01-01") },
    { ["n".repeat(40)]: 1 },
    "text",
    [1],
    { a: 2n ** 60n },
    { when: new Date(Number.NaN) },
  ]) {
    const bytes = encoded(value);
    decode.mockClear();
    expect(reading.read(bytes)).toEqual(coder.decode(bytes));
    expect(decode).toHaveBeenCalledTimes(1);
  }
});

test("bytes that are cut or changed are read as the library reads them, or refused as it refuses them", () => {
  const { reading } = reader();
  const whole = encoded({
    _id: "0190",
    list: ["a", "b"],
    at: new Date(1_700_000_000_123),
    n: 70_000,
    text: "x".repeat(40),
  });
  const outcome = (read: () => unknown): unknown => {
    try {
      return read();
    } catch {
      return "refused";
    }
  };
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), (at, byte, isCut) => {
      const bytes = Buffer.from(isCut ? whole.subarray(0, at) : whole);
      if (!isCut) bytes[at] = byte;
      expect(outcome(() => reading.read(bytes))).toEqual(outcome(() => coder.decode(bytes)));
    }),
    { numRuns: 1_000 },
  );
});
