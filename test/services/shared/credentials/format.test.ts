import { assert, constantFrom, integer, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { createKeyFormat, randomBase62 } from "../../../../services/shared/credentials/format.js";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const format = createKeyFormat("slp_");

describe("an API key", () => {
  test("has its documented shape and is read back", () => {
    const { token, keyId, secret } = format.mint();
    expect(token).toMatch(/^slp_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
    expect(token).toMatch(new RegExp(`^${format.scannerPattern}$`));
    expect(format.parse(token)).toEqual({ keyId, secret });
  });

  test("with any one character changed is refused", async () => {
    const { token } = format.mint();
    await assert(
      property(integer({ min: 0, max: token.length - 1 }), constantFrom(...ALPHABET, "_", "-"), (at, letter) => {
        const changed = token.slice(0, at) + letter + token.slice(at + 1);
        return changed === token || format.parse(changed) === undefined;
      }),
      { numRuns: 5_000 },
    );
  });

  test("with two neighbours swapped is refused", async () => {
    await assert(
      property(integer({ min: 0, max: 64 }), (at) => {
        const { token } = format.mint();
        const swapped = token.slice(0, at) + (token[at + 1] ?? "") + token[at] + token.slice(at + 2);
        return swapped === token || format.parse(swapped) === undefined;
      }),
    );
  });

  test("is never read out of arbitrary text", async () => {
    await assert(
      property(string({ unit: "binary", maxLength: 100 }), (text) => format.parse(text) === undefined),
      { numRuns: 2_000 },
    );
  });

  test("of one deployment is none of another's", async () => {
    await assert(
      property(constantFrom("acme_", "slpx_", "dev2_"), (prefix) => {
        const other = createKeyFormat(prefix);
        const { token } = other.mint();
        return other.parse(token) !== undefined && format.parse(token) === undefined;
      }),
    );
  });
});

test("a prefix that could be mistaken for the key itself is refused", () => {
  for (const prefix of ["", "slp", "SLP_", "a_b_", "1a_", "x_", "(_"]) {
    expect(() => createKeyFormat(prefix)).toThrow(/2 to 16/);
  }
});

test("random characters are evenly spread over the alphabet", () => {
  const counts = new Map<string, number>();
  for (const letter of randomBase62(62_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // Chi-squared with 61 degrees of freedom: 130 is exceeded once in a million.
  let chi = 0;
  for (const count of counts.values()) chi += (count - 1_000) ** 2 / 1_000;
  expect(chi).toBeLessThan(130);
});
