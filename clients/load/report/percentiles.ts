import { createTimes, type Times } from "../histogram.js";
import type { Tally } from "../recorder.js";
import type { Latency, Report } from "./report.js";

/** The percentiles of some times together. */
export function latencyOf(...times: readonly Times[]): Latency {
  const [first] = times;
  const all = times.length === 1 && first !== undefined ? first : sumOf(times);
  return {
    min: all.min,
    mean: all.mean,
    p50: all.percentile(50),
    p75: all.percentile(75),
    p90: all.percentile(90),
    p95: all.percentile(95),
    p99: all.percentile(99),
    "p99.9": all.percentile(99.9),
    "p99.99": all.percentile(99.99),
    max: all.max,
  };
}

function sumOf(times: readonly Times[]): Times {
  const all = createTimes();
  for (const one of times) all.add(one);
  return all;
}

/** Points of the curve in each step of ten to 99 %, 99.9 % and so on. */
const STEPS = 12;
/** To 99.9999 %. */
const NINES = 6;
const PERCENTAGES: readonly number[] = [
  ...Array.from({ length: STEPS * NINES + 1 }, (_, i) => 100 * (1 - 10 ** (-i / STEPS))),
  100,
];

/** The curve of percentiles; it ends where fewer than one request is above. */
export function curveOf(all: Times, wire: Times, tallies: readonly Tally[]): Report["curve"] {
  const percentages = PERCENTAGES.filter((one) => one === 100 || (1 - one / 100) * all.count >= 1);
  const curve = (name: string, times: Times) => ({ name, ms: percentages.map((one) => times.percentile(one)) });
  return {
    percentages,
    series: [
      curve("all requests", all),
      curve("on the wire", wire),
      ...tallies.map(({ operation: { kind, era }, latency }) => curve(`${kind} ${era}`, latency)),
    ],
  };
}
