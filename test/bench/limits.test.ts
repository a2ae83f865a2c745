import { expect, test } from "vitest";
import type { Measured } from "./figures/group.js";
import { better, held, LIMITS, sentenceOf } from "./limits.js";
import { SHAPES } from "./suites/facade.js";

const group = (floor: readonly number[], own: readonly number[]): Measured => ({
  ...{ suite: "gate", name: "x" },
  rows: [
    { name: "bare", kind: "floor", megabytes: 1, turns: floor.map((cpu) => ({ cpu, rate: 1 })) },
    { name: "façade", kind: "ours", megabytes: 1, turns: own.map((cpu) => ({ cpu, rate: 1 })) },
  ],
});
const limit = { shape: "x", ratio: 1.5 };

test("a limit holds up to its ratio", () => {
  expect(held(limit, group([10, 10, 10], [15, 15, 40]))).toEqual({ ...limit, measured: 1.5, holds: true });
  expect(held(limit, group([10, 10, 10], [16, 16, 10])).holds).toBe(false);
});

test("what could not be measured does not hold", () => {
  expect(held(limit, group([], [])).holds).toBe(false);
  expect(held(limit, { suite: "gate", name: "x", rows: [] }).holds).toBe(false);
});

test("a second measurement counts if it holds", () => {
  const bad = { ...limit, measured: 2, holds: false };
  const good = { ...limit, measured: 1.2, holds: true };
  expect(better([bad], [good])).toEqual([good]);
  expect(better([bad], [{ ...bad, measured: 3 }])).toEqual([bad]);
  expect(better([good], [])).toEqual([good]);
});

test("a sentence says what was measured and what the limit is", () => {
  const said = sentenceOf({ ...limit, measured: 1.234, holds: false });
  expect(said).toBe("Fails: x takes 1.23 × bare µWebSockets.js; the limit is 1.5.");
});

test("every limit is of a shape that is measured", () => {
  const names = SHAPES.map(({ name }) => name);
  expect(LIMITS.filter(({ shape }) => !names.includes(shape))).toEqual([]);
});
