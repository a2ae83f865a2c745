import type { Kind } from "./group.js";
import { median, pairedRatio } from "./statistics.js";

/** The percentiles that are compared. */
export const PERCENTILES = ["p50", "p99", "p99.9"] as const;
/** One of them. */
export type Percentile = (typeof PERCENTILES)[number];

/** One run at a constant rate. */
export interface Run {
  /** In milliseconds, from the time at which a request was due. */
  readonly ms: Readonly<Record<Percentile, number>>;
  /** Of these, until the generator took the request up. */
  readonly lateMs: Readonly<Record<Percentile, number>>;
  readonly failed: number;
  /** Whether the generator fell behind its schedule: then the times are its own. */
  readonly isBehind: boolean;
  /** The times of all percentages. */
  readonly curve: Curve;
}

/** A curve of percentiles. */
export interface Curve {
  readonly percentages: readonly number[];
  readonly ms: readonly number[];
}

/** A server at a constant rate, round by round. */
export interface TimedRow {
  readonly name: string;
  readonly kind: Kind;
  readonly runs: readonly Run[];
}

/** Servers at the same rate, in turns. The first one is the floor. */
export interface Latencies {
  readonly name: string;
  /** Requests per second. */
  readonly rate: number;
  readonly rows: readonly TimedRow[];
}

/** What it is called. */
export const titleOf = ({ name, rate }: Latencies): string => `${name}, ${rate} per second, half of our capacity`;

/** A percentile of each round. */
export const millisecondsOf = ({ runs }: TimedRow, percentile: Percentile): number[] =>
  runs.map(({ ms }) => ms[percentile]);

/** The median of a percentile over the rounds, and its ratio to the floor's. */
export function figureOf(
  { rows }: Latencies,
  row: TimedRow,
  percentile: Percentile,
): { readonly ms: number; readonly ratio: number } {
  const own = millisecondsOf(row, percentile);
  const floor = rows[0] === undefined ? [] : millisecondsOf(rows[0], percentile);
  return { ms: median(own), ratio: pairedRatio(own, floor) };
}
