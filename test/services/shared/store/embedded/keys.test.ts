import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Bounds,
  beginningWith,
  between,
  componentOf,
  EMPTY,
  inverted,
  isOrdered,
  isScalar,
  MAX_PLAIN_BYTES,
  wholeComponentOf,
  writePlain,
} from "../../../../../services/shared/store/embedded/keys.js";

const anyString = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ unit: fc.constantFrom("\0", "\u0001", "a", "é", "ÿ", "\u{1f600}"), maxLength: 8 }),
);
const anyNumber = fc.oneof(fc.integer(), fc.double({ noNaN: true }));
const anyDate = fc.date({ noInvalidDate: true });
const sign = (n: number) => Math.sign(n);

describe("a component orders as its value does", () => {
  test("for numbers", () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, (a, b) => {
        expect(sign(Buffer.compare(componentOf(a), componentOf(b)))).toBe(a === b ? 0 : a < b ? -1 : 1);
      }),
    );
  });

  test("for strings, by their bytes", () => {
    fc.assert(
      fc.property(anyString, anyString, (a, b) => {
        const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(sign(Buffer.compare(componentOf(a), componentOf(b)))).toBe(expected);
      }),
    );
  });

  test("for dates", () => {
    fc.assert(
      fc.property(anyDate, anyDate, (a, b) => {
        expect(sign(Buffer.compare(componentOf(a), componentOf(b)))).toBe(sign(a.getTime() - b.getTime()));
      }),
    );
  });

  test("for values of different types, in MongoDB's order", () => {
    const ordered = [
      EMPTY,
      null,
      Number.NaN,
      -1,
      0,
      2,
      "",
      "z",
      {},
      Buffer.from("b"),
      false,
      true,
      new Date(-5),
      new Date(0),
    ];
    const keys = ordered.map(componentOf);
    expect([...keys].sort(Buffer.compare)).toEqual(keys);
  });

  test("for two components in a row, each in its direction", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyString, anyNumber), { minLength: 2, maxLength: 8 }), (pairs) => {
        const key = ([text, n]: [string, number]) => Buffer.concat([inverted(componentOf(text)), componentOf(n)]);
        const byKey = [...pairs].sort((a, b) => Buffer.compare(key(a), key(b)));
        const byValue = [...pairs].sort(
          (a, b) => Buffer.compare(Buffer.from(b[0]), Buffer.from(a[0])) || (a[1] === b[1] ? 0 : a[1] - b[1]),
        );
        expect(byKey.map(key)).toEqual(byValue.map(key));
      }),
    );
  });
});

describe("a range of keys", () => {
  const inside = (key: Buffer, { start, end }: { start: Buffer; end: Buffer }) =>
    Buffer.compare(start, key) <= 0 && Buffer.compare(key, end) <= 0;
  const prefix = componentOf("p");
  const suffix = componentOf("id");

  test("holds exactly the values between its bounds, in both directions", () => {
    for (const values of [anyNumber, anyString, anyDate] as fc.Arbitrary<number | string | Date>[])
      fc.assert(
        fc.property(values, values, values, fc.boolean(), (value, a, b, descending) => {
          const [low, high] = Buffer.compare(componentOf(a), componentOf(b)) < 0 ? [a, b] : [b, a];
          const part = descending ? inverted(componentOf(value)) : componentOf(value);
          const key = Buffer.concat([prefix, part, suffix]);
          const isAbove = Buffer.compare(componentOf(value), componentOf(low)) >= 0;
          const isBelow = Buffer.compare(componentOf(value), componentOf(high)) <= 0;
          expect(inside(key, between(prefix, { lower: low, upper: high }, descending))).toBe(isAbove && isBelow);
          expect(inside(key, between(prefix, { lower: low }, descending))).toBe(isAbove);
          expect(inside(key, between(prefix, { upper: high }, descending))).toBe(isBelow);
          const same = (bound: typeof value): boolean => componentOf(value).equals(componentOf(bound));
          const open = (bounds: Bounds): boolean => inside(key, between(prefix, bounds, descending));
          // What a key does not give the order of may be inside where it need not.
          if (![value, low, high].every(isOrdered)) return;
          expect(open({ lower: low, lowerOpen: true })).toBe(isAbove && !same(low));
          expect(open({ upper: high, upperOpen: true })).toBe(isBelow && !same(high));
          expect(inside(key, beginningWith(prefix))).toBe(true);
        }),
      );
  });

  test("holds no value of another type", () => {
    const key = Buffer.concat([prefix, componentOf("text"), suffix]);
    expect(inside(key, between(prefix, { lower: 5 }, false))).toBe(false);
    expect(inside(key, between(prefix, { upper: new Date() }, true))).toBe(false);
    expect(inside(key, beginningWith(componentOf("q")))).toBe(false);
  });
});

describe("a long string", () => {
  const long = (end: string) => "é".repeat(200) + end;

  test("is cut, hashed and stays within what a key may hold", () => {
    expect(componentOf(long("")).length).toBeLessThan(300);
    expect(componentOf("\0".repeat(10_000)).length).toBeLessThan(300);
    expect(componentOf(long("a")).equals(componentOf(long("b")))).toBe(false);
    expect(isOrdered(long(""))).toBe(false);
    expect(isOrdered("e".repeat(240))).toBe(true);
  });

  test("is inside every range that its beginning is in", () => {
    const key = Buffer.concat([componentOf(long("m")), componentOf("id")]);
    for (const [low, high] of [
      [long("a"), long("z")],
      ["é", long("z")],
      [long("a"), "ÿ"],
    ] as const) {
      const { start, end } = between(Buffer.alloc(0), { lower: low, upper: high }, false);
      expect(Buffer.compare(start, key) <= 0 && Buffer.compare(key, end) <= 0).toBe(true);
    }
  });

  test("is whole where it is compared in memory", () => {
    expect(Buffer.compare(wholeComponentOf(long("a")), wholeComponentOf(long("b")))).toBe(-1);
  });
});

test("a plain component that is written into a key is the component, wherever it is", () => {
  const others = [Number.NaN, -0, new Date(Number.NaN), "é".repeat(80), "x".repeat(81), [], {}, EMPTY, undefined, 1n];
  const anything = fc.oneof(anyString, anyNumber, anyDate, fc.boolean(), fc.constantFrom(null, ...others));
  fc.assert(
    fc.property(anything, fc.nat(20), (value, at) => {
      const key = Buffer.alloc(at + MAX_PLAIN_BYTES, 0xaa);
      const end = writePlain(key, at, value);
      const isText = typeof value === "string";
      const isPlain = isText ? value.length <= 80 && !value.includes("\0") : isScalar(value);
      expect(end >= 0).toBe(isPlain);
      if (isPlain) expect(key.subarray(at, end).equals(componentOf(value))).toBe(true);
      expect(key.subarray(0, at).every((byte) => byte === 0xaa)).toBe(true);
    }),
  );
});
