import type { Measured } from "../figures/group.js";
import type { Latencies } from "../figures/latencies.js";

/** What a run of the benchmark measured, as it is written as JSON. */
export interface Result {
  readonly version: 1;
  /** When it ended, ISO 8601. */
  readonly at: string;
  readonly by: string;
  readonly machine: {
    readonly node: string;
    readonly cpu: string;
    readonly cpus: number;
    readonly kernel: string;
    /** Which processors servers and load had. */
    readonly pinning: string;
  };
  readonly options: {
    readonly rounds: number;
    readonly ms: number;
    readonly connections: readonly number[];
    /** Microseconds from an answer to the next request of its connection, in the closed loops of facade, audit and stack. */
    readonly pause: number;
    readonly seconds: number;
  };
  readonly groups: readonly Measured[];
  readonly latencies: readonly Latencies[];
  /** What could not be measured, and why. */
  readonly skipped: readonly string[];
}
