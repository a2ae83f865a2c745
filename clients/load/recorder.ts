import { createTimes, type Times } from "./histogram.js";
import type { Operation } from "./operation.js";

/** The end of one request. Times are in milliseconds. */
export interface Finished {
  /** From the time at which it was due. */
  readonly latencyMs: number;
  /** From the time at which it was sent; undefined if it never was. */
  readonly wireMs: number | undefined;
  readonly failure: string | undefined;
  readonly detail: string | undefined;
  readonly bytes: number;
  readonly isStream: boolean;
}

/** Figures of one operation, so far. */
export interface Tally {
  readonly operation: Operation;
  readonly latency: Times;
  good: number;
  failed: number;
  /** Bytes of the answers' bodies. */
  bytes: number;
  /** Answers that were event streams. */
  streams: number;
}

/** Failures of one reason. */
export interface Failures {
  readonly reason: string;
  count: number;
  /** The words that came with the first of them. */
  readonly detail: string;
}

/** Figures of one interval of the run, by the time at which answers arrived. */
export interface Point {
  /** Seconds from the beginning to the end of the interval. */
  readonly second: number;
  /** Requests that became due. */
  readonly due: number;
  readonly good: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly inFlight: number;
  readonly waiting: number;
}

/** A request that the generator takes up later than this is late, in milliseconds. */
export const LATE_MS = 10;

/** Reasons that are counted each by itself, and what all further ones are called. */
const MAX_REASONS = 100;
const OTHER = "other";

/** Counts what happens in a run. Its memory grows by the intervals alone. */
export class Recorder {
  readonly tallies: readonly Tally[];
  readonly wire = createTimes();
  /** From the time at which a request was due to the time at which the generator took it up. */
  readonly late = createTimes();
  /** How long requests waited for a free connection, of those that waited. */
  readonly waited = createTimes();
  readonly failures = new Map<string, Failures>();
  readonly points: Point[] = [];
  due = 0;
  /** Requests that the generator took up more than LATE_MS late. */
  lateOnes = 0;
  private readonly interval = { latency: createTimes(), due: 0, good: 0, failed: 0 };
  private readonly byOperation: ReadonlyMap<Operation, Tally>;

  constructor(operations: readonly Operation[]) {
    this.tallies = operations.map((operation) => {
      return { operation, latency: createTimes(), good: 0, failed: 0, bytes: 0, streams: 0 };
    });
    this.byOperation = new Map(this.tallies.map((tally) => [tally.operation, tally]));
  }

  /** Counts a request that was due, and how late the generator took it up. */
  take(lateMs: number): void {
    this.due++;
    this.interval.due++;
    this.late.record(lateMs);
    if (lateMs > LATE_MS) this.lateOnes++;
  }

  /** Counts the end of a request; every request that was taken has exactly one. */
  finish(operation: Operation, finished: Finished): void {
    const tally = this.byOperation.get(operation) as Tally;
    tally.latency.record(finished.latencyMs);
    this.interval.latency.record(finished.latencyMs);
    if (finished.wireMs !== undefined) this.wire.record(finished.wireMs);
    tally.bytes += finished.bytes;
    if (finished.isStream) tally.streams++;
    if (finished.failure === undefined) {
      tally.good++;
      this.interval.good++;
      return;
    }
    tally.failed++;
    this.interval.failed++;
    // A server can make up a code for each answer.
    const isRoom = this.failures.size < MAX_REASONS || this.failures.has(finished.failure);
    const reason = isRoom ? finished.failure : OTHER;
    const same = this.failures.get(reason);
    if (same !== undefined) same.count++;
    else this.failures.set(reason, { reason, count: 1, detail: finished.detail ?? "" });
  }

  /** Ends an interval and begins the next one. */
  endInterval(second: number, load: { readonly inFlight: number; readonly waiting: number }): Point {
    const { latency, due, good, failed } = this.interval;
    const point: Point = {
      second,
      due,
      good,
      failed,
      p50Ms: latency.percentile(50),
      p99Ms: latency.percentile(99),
      maxMs: latency.max,
      ...load,
    };
    this.points.push(point);
    latency.reset();
    Object.assign(this.interval, { due: 0, good: 0, failed: 0 });
    return point;
  }

  /** The latencies of all operations together. */
  get latency(): Times {
    const all = createTimes();
    for (const tally of this.tallies) all.add(tally.latency);
    return all;
  }

  get good(): number {
    return this.tallies.reduce((sum, { good }) => sum + good, 0);
  }

  get failed(): number {
    return this.tallies.reduce((sum, { failed }) => sum + failed, 0);
  }
}
