import { fromJson, toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { timestampOf, timeText } from "../../../../../services/shared/tools/codec/time.js";

test("times are written as the library writes them", () => {
  const seconds = fc.bigInt({ min: -62135596800n, max: 253402300799n });
  fc.assert(
    fc.property(seconds, fc.nat({ max: 999_999_999 }), (seconds, nanos) => {
      const time = { $typeName: TimestampSchema.typeName, seconds, nanos } as const;
      const text = timeText(time);
      expect(text).toBe(toJson(TimestampSchema, time));
      expect(timestampOf(text)).toEqual(time);
    }),
    { numRuns: 1_000 },
  );
});

test("times of any offset are read as the library reads them", () => {
  const two = (most: number) => fc.nat({ max: most }).map((n) => String(n).padStart(2, "0"));
  const year = fc.integer({ min: 1, max: 9999 }).map((n) => String(n).padStart(4, "0"));
  const offset = fc.oneof(
    fc.constant("Z"),
    fc.tuple(fc.constantFrom("+", "-"), two(14), two(59)).map(([s, h, m]) => `${s}${h}:${m}`),
  );
  const fraction = fc.oneof(fc.constant(""), fc.stringMatching(/^\.\d{1,9}$/));
  fc.assert(
    fc.property(year, two(12), two(28), two(23), two(59), two(59), fraction, offset, (y, mo, d, h, mi, s, f, o) => {
      const text = `${y}-${mo === "00" ? "01" : mo}-${d === "00" ? "01" : d}T${h}:${mi}:${s}${f}${o}`;
      let expected: unknown;
      try {
        expected = fromJson(TimestampSchema, text);
      } catch {
        expected = undefined;
      }
      expect(timestampOf(text)).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  "",
  "yesterday",
  "2026-02-30T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T00:60:00Z",
  "0000-01-01T00:00:00Z",
])("%s is no time", (text) => {
  expect(timestampOf(text)).toBeUndefined();
});

test("a day alone is its first moment in UTC", () => {
  expect(timestampOf("2026-07-28")).toEqual(timestampOf("2026-07-28T00:00:00Z"));
  for (const text of ["2026-02-30", "2026-7-28", "2026-07-28 ", "20260728"]) expect(timestampOf(text)).toBeUndefined();
});
