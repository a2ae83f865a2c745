import fc from "fast-check";
import { expect, test } from "vitest";
import { quotedJson } from "../../../facade/catalogue/quoted-json.js";

test("a JSON text is the string that JSON.stringify makes of it, whatever it says", () => {
  const text = fc.oneof(
    fc.json(),
    fc.json({ stringUnit: "binary" }),
    fc.string({ unit: "binary-ascii" }).map((one) => JSON.stringify(one)),
  );
  fc.assert(
    fc.property(text, (json) => {
      expect(quotedJson(json)).toBe(JSON.stringify(json));
    }),
    { numRuns: 2_000 },
  );
});

const MOST = 64 * 1024;

test.each([2, MOST / 2, MOST - 2, MOST - 1, MOST, MOST + 1])(
  "a text of %d characters is whole, whatever ends it",
  (length) => {
    for (const last of ['"', "\\", "a", "é", "日", "🚪"]) {
      const text = `${'"'.repeat(length - last.length)}${last}`;
      if (length >= last.length) expect(quotedJson(text)).toBe(JSON.stringify(text));
    }
  },
);

test("a lone surrogate is escaped", () => {
  expect(quotedJson('"\ud800"')).toBe(JSON.stringify('"\ud800"'));
});
