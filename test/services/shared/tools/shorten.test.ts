import fc from "fast-check";
import { expect, test } from "vitest";
import { ROW_CHARACTERS, shorten } from "../../../../services/shared/tools/shorten.js";

test("a text that fits stays, and none is an empty one", () => {
  const text = "x".repeat(ROW_CHARACTERS);
  expect(shorten(text)).toBe(text);
  expect([shorten(null), shorten(undefined), shorten("")]).toEqual(["", "", ""]);
});

test("a longer one is cut with an ellipsis, between characters", () => {
  expect(shorten("abcdef", 5)).toBe("abcd…");
  expect(shorten("abc\u{1f600}ef", 5)).toBe("abc…");
  expect(shorten("ab\u{1f600}cdef", 5)).toBe("ab\u{1f600}…");
});

test("whatever the text, what is left is well-formed, a beginning and no longer than asked", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 40 }), fc.integer({ min: 2, max: 20 }), (text, most) => {
      const short = shorten(text, most);
      expect(short.length).toBeLessThanOrEqual(most);
      expect(Buffer.from(short).toString()).toBe(short);
      if (short !== text) expect(text.startsWith(short.slice(0, -1))).toBe(true);
    }),
  );
});
