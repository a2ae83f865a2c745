import fc from "fast-check";
import { expect, test } from "vitest";
import { replacedText, textOfUtf8 } from "../../../../services/shared/rpc/utf8.js";

/** Texts, bytes that may be none, and both in front of long ones. */
const anyBytes = (() => {
  const texts = fc.string({ unit: "binary" }).map((text) => Buffer.from(text));
  const some = fc.oneof(texts, fc.uint8Array(), fc.uint8Array({ max: 127 }));
  const long = fc.constantFrom("", "a".repeat(5_000), "é".repeat(2_500), "\ufeff𝒳".repeat(2_000), "\ufffd");
  return fc
    .tuple(some, long, fc.nat(3))
    .map(([bytes, more, from]) => Buffer.concat([bytes, Buffer.from(more)]).subarray(from));
})();

test("bytes become the text that a strict decoder makes of them, and no text if it refuses them", () => {
  const strict = (bytes: Uint8Array): string | undefined => {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return undefined;
    }
  };
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      expect(textOfUtf8(bytes)).toBe(strict(bytes));
    }),
    { numRuns: 2_000 },
  );
});

test("any bytes become the text that a decoder makes of them, without a byte order mark in front", () => {
  fc.assert(
    fc.property(fc.boolean(), anyBytes, (isMarked, bytes) => {
      const given = isMarked ? Buffer.concat([Buffer.from("\ufeff"), bytes]) : bytes;
      expect(replacedText(given)).toBe(new TextDecoder().decode(given));
    }),
    { numRuns: 2_000 },
  );
});
