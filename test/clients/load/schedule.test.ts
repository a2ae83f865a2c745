import fc from "fast-check";
import { expect, test } from "vitest";
import { createSchedule, type Stage } from "../../../clients/load/schedule.js";
import { readStages, SHAPES, stagesOf } from "../../../clients/load/shapes.js";

const rate = fc.double({ min: 0, max: 2_000, noNaN: true });
const seconds = fc.double({ min: 0.1, max: 5, noNaN: true });
const anyStages = fc
  .array(fc.record({ seconds, from: rate, to: rate }), { minLength: 1, maxLength: 4 })
  .filter((stages) => areaOf(stages) >= 1);
const anyShape = fc
  .record({ shape: fc.constantFrom(...SHAPES), seconds, rate, from: rate, peak: rate })
  .map(({ shape, ...input }) => stagesOf(shape, input))
  .filter((stages) => areaOf(stages) >= 1);

/** Requests that stages demand. */
const areaOf = (stages: readonly Stage[]): number =>
  stages.reduce((sum, { seconds, from, to }) => sum + (seconds * (from + to)) / 2, 0);

/** Requests that stages demand until a time, in seconds. */
function demandedBy(stages: readonly Stage[], at: number): number {
  let before = 0;
  return stages.reduce((sum, stage) => {
    const into = Math.min(Math.max(at - before, 0), stage.seconds);
    before += stage.seconds;
    return sum + stage.from * into + (((stage.to - stage.from) / stage.seconds) * into * into) / 2;
  }, 0);
}

test.each([
  ["stages", anyStages],
  ["shapes", anyShape],
])("%s: there is a request for each whole unit of the area, none early, none after the end", (_what, stages) => {
  fc.assert(
    fc.property(stages, (given) => {
      const { count, lengthMs, dueAt } = createSchedule(given);
      expect(Math.abs(count - areaOf(given))).toBeLessThan(1 + 1e-6);
      expect(dueAt(0)).toBeGreaterThanOrEqual(0);
      const step = Math.max(1, Math.floor(count / 50));
      let last = 0;
      for (let k = 0; k < count; k += step) {
        const due = dueAt(k);
        expect(due).toBeGreaterThanOrEqual(last);
        expect(due).toBeLessThanOrEqual(lengthMs + 1e-6);
        // Request k is due when exactly k requests were demanded before it.
        expect(Math.abs(demandedBy(given, due / 1_000) - k)).toBeLessThan(1e-3);
        last = due;
      }
    }),
    { numRuns: 100 },
  );
});

test("a soak is evenly spaced, also over its whole length", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 1, max: 60 }), (perSecond, length) => {
      const input = { seconds: length, rate: perSecond, from: 0, peak: 0 };
      const { count, dueAt, rateAt } = createSchedule(stagesOf("soak", input));
      expect(count).toBe(perSecond * length);
      for (const k of [0, 1, count >> 1, count - 1]) expect(dueAt(k)).toBeCloseTo((k * 1_000) / perSecond, 6);
      expect(rateAt((length * 1_000) / 2)).toBe(perSecond);
    }),
  );
});

test("a ramp from 0 sends a quarter in its first half; its rate grows evenly", () => {
  const { count, dueAt, rateAt } = createSchedule(stagesOf("ramp", { seconds: 10, rate: 200, from: 0, peak: 0 }));
  expect(count).toBe(1_000);
  expect(dueAt(250)).toBeCloseTo(5_000, 6);
  expect([0, 5_000, 10_000].map(rateAt)).toEqual([0, 100, 0]);
  expect(rateAt(9_999)).toBeCloseTo(199.98, 6);
});

test("a spike is at its peak for the middle fifth", () => {
  const { count, rateAt } = createSchedule(stagesOf("spike", { seconds: 10, rate: 100, from: 0, peak: 1_000 }));
  expect(count).toBe(400 + 2_000 + 400);
  expect([0, 3_999, 4_001, 5_999, 6_001].map(rateAt)).toEqual([100, 100, 1_000, 1_000, 100]);
});

test("stages are read, also with a pause", () => {
  const stages = readStages("30:100-1000, 1:0,60:1000");
  expect(stages).toEqual([
    { seconds: 30, from: 100, to: 1_000 },
    { seconds: 1, from: 0, to: 0 },
    { seconds: 60, from: 1_000, to: 1_000 },
  ]);
  const { count, dueAt } = createSchedule(readStages("1:10,1:0,1:10"));
  expect([count, dueAt(9), dueAt(10)]).toEqual([20, 900, 2_000]);
});

test.each(["", "30", "30:x", "0:100", "30:100-"])("%j is no stage, and the error shows what one is", (text) => {
  expect(() => readStages(text)).toThrow(/such as 30:100-1000,60:1000/);
});

test("stages without a request are refused", () => {
  expect(() => createSchedule([{ seconds: 10, from: 0, to: 0 }])).toThrow(/send no request/);
});
