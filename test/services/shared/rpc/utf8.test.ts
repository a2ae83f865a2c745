import fc from "fast-check";
import { expect, test } from "vitest";
import { textOfUtf8 } from "../../../../services/shared/rpc/utf8.js";

test("bytes become the text that a strict decoder makes of them, and no text if it refuses them", () => {
  const strict = (bytes: Uint8Array): string | undefined => {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return undefined;
    }
  };
  const texts = fc.string({ unit: "binary" }).map((text) => Buffer.from(text));
  const some = fc.oneof(texts, fc.uint8Array(), fc.uint8Array({ max: 127 }));
  const long = fc.constantFrom("", "a".repeat(5_000), "é".repeat(2_500), "\ufeff𝒳".repeat(2_000), "\ufffd");
  fc.assert(
    fc.property(some, long, fc.nat(3), (bytes, more, from) => {
      const part = Buffer.concat([bytes, Buffer.from(more)]).subarray(from);
      expect(textOfUtf8(part)).toBe(strict(part));
    }),
    { numRuns: 2_000 },
  );
});
