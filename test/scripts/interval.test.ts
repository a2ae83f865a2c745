import { expect, test } from "vitest";
import { intervalOf } from "../support/interval.js";
import { randomOf } from "../support/random.js";

test("the numbers of a seed do not come around, and all of them are as likely", () => {
  const random = randomOf(1);
  const seen = new Set<number>();
  const lastBits = new Array<number>(8).fill(0);
  for (let i = 0; i < 100_000; i++) {
    const bits = random() * 2 ** 32;
    seen.add(bits);
    lastBits[bits % 8]!++;
  }
  // Of 100,000 draws of 2^32 about one comes twice.
  expect(seen.size).toBeGreaterThan(99_990);
  for (const count of lastBits) expect(Math.abs(count - 12_500)).toBeLessThan(500);
});

test("an interval is as wide as the normal distribution says", () => {
  const values = Array.from({ length: 400 }, (_, i) => i % 2);
  const [least, most] = intervalOf(values);
  // 1.96 standard errors of .025 each side.
  expect(least).toBeCloseTo(0.451, 2);
  expect(most).toBeCloseTo(0.549, 2);
  expect(intervalOf(values)).toEqual([least, most]);
});
