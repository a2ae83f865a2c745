import { expect, test } from "vitest";
import { median, pairedRatio, shown } from "./figures/statistics.js";

test("the median of an even number of values is between the two in the middle", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test("a ratio is that of each round, so that a slow round changes nothing", () => {
  expect(pairedRatio([10, 100, 12], [5, 50, 6])).toBe(2);
  // The ratio of the medians would be 3.
  expect(pairedRatio([30, 30, 30], [10, 30, 5])).toBe(3);
  expect(pairedRatio([30, 2, 30], [10, 1, 30])).toBe(2);
});

test("a round without its floor has no ratio", () => {
  expect(pairedRatio([4, 8], [2])).toBe(2);
  expect(pairedRatio([4], [])).toBeNaN();
});

test("figures have three significant digits, and whole numbers from 1,000 on", () => {
  expect([12.345, 0.01234, 999.9, 12_345.6].map(shown)).toEqual(["12.3", "0.0123", "1000", "12,346"]);
  expect(shown(Number.NaN)).toBe("–");
});
