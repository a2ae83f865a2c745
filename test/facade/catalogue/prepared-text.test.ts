import { setTimeout as sleep } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PreparedText } from "../../../facade/catalogue/prepared-text.js";

const TEXT = `{"tools":[${Array.from({ length: 2_000 }, (_, i) => `"tool ${i} ä"`).join(",")}],"id":`;
const codingOf = (text: PreparedText): string | undefined => {
  const { headers } = text.encodedWith(1, ["br", "gzip"]);
  return headers[headers.indexOf("content-encoding") + 1];
};

test("what is asked for once is not compressed; what is asked for again is", async () => {
  const text = new PreparedText(TEXT);
  expect(text.encodedWith(1, ["br"]).headers).not.toContain("br");
  await sleep(200);
  // Nothing was prepared meanwhile: this is the second request, which has it prepared.
  expect(text.encodedWith(1, ["br"]).headers).not.toContain("br");
  await expect.poll(() => codingOf(text)).toBe("br");
});

test("any id follows the compressed text", async () => {
  const text = new PreparedText(TEXT);
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const coding of ["br", "gzip"] as const) {
    await expect.poll(() => text.encodedWith(1, [coding]).headers).toContain(coding);
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 300 }), fc.integer()), (id) => {
        const { bytes } = text.encodedWith(id, [coding]);
        expect(decoders[coding](bytes).toString()).toBe(`${TEXT}${JSON.stringify(id)}}`);
      }),
      { numRuns: 100 },
    );
  }
});
