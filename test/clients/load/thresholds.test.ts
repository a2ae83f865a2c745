import { expect, test } from "vitest";
import type { Latency } from "../../../clients/load/report/report.js";
import { check, readThreshold } from "../../../clients/load/thresholds.js";

const latencyMs: Latency = {
  ...{ min: 1, mean: 6, p50: 5, p75: 7, p90: 10, p95: 20, p99: 61.25 },
  ...{ "p99.9": 100, "p99.99": 900, max: 1_000 },
};
const FIGURES = {
  elapsedMs: 10_000,
  latencyMs,
  requests: { due: 10_000, good: 9_990, failed: 10 },
  kinds: { list: { good: 1_000, failed: 0, latencyMs: { ...latencyMs, p99: 5 } } },
};
const checked = (text: string) => check(readThreshold(text), FIGURES);

test.each([
  "p99<62ms",
  "p99 < 0.062s",
  "p99.9<=100ms",
  "min>=1ms",
  "mean<7ms",
  "max<=1s",
  "errors<=0.1%",
  "errors<11",
  "rate>=999",
  "rate>998/s",
  "list.p99<6ms",
  "list.errors<1",
  "list.rate>=100",
])("%s holds", (text) => {
  expect(checked(text)).toMatchObject({ threshold: text, holds: true });
});

test.each([
  ["p99<50ms", "p99 is 61.25 ms; the threshold is p99<50ms."],
  ["errors<0.1%", "errors is 0.1 %; the threshold is errors<0.1%."],
  ["errors<5", "errors is 10; the threshold is errors<5."],
  ["rate>=1000", "rate is 999.0 per second; the threshold is rate>=1000."],
  ["list.p50<5ms", "p50 of list requests is 5 ms; the threshold is list.p50<5ms."],
  ["call.p50<5ms", "call.p50<5ms could not be checked: no such request was sent."],
])("%s fails, and a sentence says how", (text, sentence) => {
  expect(checked(text)).toEqual({ threshold: text, holds: false, sentence });
});

test.each(["p99", "p98<5ms", "p99<5", "p99<5%", "errors<5ms", "rate>=5ms", "tool.p99<5ms", "p99=5ms"])(
  "%j is no threshold, and the error shows what one is",
  (text) => {
    expect(() => readThreshold(text)).toThrow(/such as p99<50ms/);
  },
);
