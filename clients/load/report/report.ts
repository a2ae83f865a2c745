import type { Kind } from "../mcp/message.js";
import type { Point } from "../recorder.js";

/** Percentiles of times, in milliseconds. */
export interface Latency {
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly "p99.9": number;
  readonly "p99.99": number;
  readonly max: number;
}

/** Figures of a group of requests. */
export interface Group {
  readonly good: number;
  readonly failed: number;
  /** From the time at which a request was due until its answer was read, or it failed. */
  readonly latencyMs: Latency;
}

/** The report of a run, as it is written as JSON. It holds no key and no header's value, and of arguments the names; only the words of a failure may repeat a value. */
export interface Report {
  readonly version: 1;
  /** When the run ended, ISO 8601. */
  readonly at: string;
  readonly by: string;
  readonly scenario: object;
  /** What the server calls itself; "" if it did not say. */
  readonly server: string;
  /** The machine of the generator. */
  readonly machine: { readonly node: string; readonly cpu: string; readonly cpus: number };
  readonly isInterrupted: boolean;
  /** From the end of the warm-up until the last answer or the end of the schedule, whichever was later. */
  readonly elapsedMs: number;
  /** due is good and failed together. */
  readonly requests: { readonly due: number; readonly good: number; readonly failed: number };
  /** Requests per second over elapsedMs. */
  readonly rate: { readonly due: number; readonly good: number };
  readonly latencyMs: Latency;
  /** From the time at which a request was sent; those that were never sent are not in it. */
  readonly wireMs: Latency;
  readonly operations: readonly (Group & {
    readonly kind: Kind;
    readonly era: string;
    /** Bytes of an answer's body on average. */
    readonly bytes: number;
    /** Answers that were event streams. */
    readonly streams: number;
  })[];
  readonly kinds: Readonly<Partial<Record<Kind, Group>>>;
  readonly failures: readonly { readonly reason: string; readonly count: number; readonly first: string }[];
  readonly waiting: { readonly requests: number; readonly waitedMs: Latency };
  readonly connections: { readonly kept: number; readonly opened: number };
  readonly generator: {
    /** CPU time of the generator, as a share of one core. */
    readonly cpuShare: number;
    readonly cpuMicrosecondsPerRequest: number;
    /** From the time at which a request was due until the generator took it up; part of its latency. */
    readonly lateMs: Latency;
    /** Requests that were more than 10 ms late. */
    readonly late: number;
    readonly isBehind: boolean;
  };
  readonly points: readonly Point[];
  /** Percentages, and for each of them the times of all requests, on the wire, and of each operation. */
  readonly curve: { readonly percentages: readonly number[]; readonly series: readonly Curve[] };
  /** HDR histograms of microseconds (V2, compressed, base64). */
  readonly histograms: { readonly latency: string; readonly wire: string };
  readonly thresholds: readonly Held[];
  /** What a reader must know. */
  readonly notes: readonly string[];
}

/** The times of one group of requests, one for each percentage. */
export interface Curve {
  readonly name: string;
  readonly ms: readonly number[];
}

/** What became of a threshold. */
export interface Held {
  readonly threshold: string;
  readonly holds: boolean;
  /** What was measured and what was asked for. */
  readonly sentence: string;
}
