import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import { expect, test } from "vitest";
import { createTimes } from "../../../clients/load/histogram.js";

test("percentiles are right to three digits, and another HDR tool reads the same", () => {
  const times = createTimes();
  for (let ms = 1; ms <= 1_000; ms++) times.record(ms);
  expect(times.count).toBe(1_000);
  for (const p of [1, 50, 90, 99, 99.9]) {
    expect(Math.abs(times.percentile(p) - p * 10)).toBeLessThanOrEqual(p * 10 * 0.001 + 1);
  }
  expect([times.min, times.percentile(100), times.max]).toEqual([1, times.max, times.max]);
  expect(times.max).toBeCloseTo(1_000, -1);
  const read = decodeFromCompressedBase64(times.encoded());
  expect(read.totalCount).toBe(1_000);
  expect(read.getValueAtPercentile(50) / 1_000).toBeCloseTo(times.percentile(50), 6);
});

test("times that are too long or negative are counted, at the ends", () => {
  const times = createTimes();
  for (const ms of [-1, 1e9]) times.record(ms);
  expect(times.count).toBe(2);
  expect(times.min).toBe(0);
  expect(times.max).toBeGreaterThan(299_000);
});

test("without times all figures are 0", () => {
  const times = createTimes();
  expect([times.min, times.mean, times.max, times.percentile(99)]).toEqual([0, 0, 0, 0]);
});

test("others are added, and a reset forgets", () => {
  const [one, other] = [createTimes(), createTimes()];
  one.record(1);
  other.record(5);
  one.add(other);
  expect([one.count, one.max >= 5]).toEqual([2, true]);
  one.reset();
  expect([one.count, one.max]).toEqual([0, 0]);
});
