import fc from "fast-check";
import { expect, test } from "vitest";
import { textPage } from "../../../../services/shared/rpc/text-page.js";

test("pages joined are the text, none splits a character, and each is about its size", () => {
  // The mark of a split character may not be in the text to begin with.
  const text = fc.string({ unit: "grapheme", maxLength: 200 }).filter((whole) => !whole.includes("\uFFFD"));
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 40 }), (clean, size) => {
      const { pageCount, totalBytes } = textPage(clean, 1, size);
      expect(totalBytes).toBe(Buffer.byteLength(clean));
      const pages = Array.from({ length: pageCount }, (_, i) => textPage(clean, i + 1, size).text);
      expect(pages.join("")).toBe(clean);
      for (const page of pages) {
        expect(page).not.toContain("\uFFFD");
        expect(Buffer.byteLength(page)).toBeLessThanOrEqual(size + 3);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a page after the last is refused with how many there are", () => {
  expect(() => textPage("abcdefgh", 3, 4)).toThrow("page 3 does not exist: the last page is 2");
  expect(textPage("", 1, 4)).toEqual({ text: "", page: 1, pageCount: 1, totalBytes: 0 });
});
