import type { Mix } from "./operation.js";
import type { Stage } from "./schedule.js";
import type { Threshold } from "./thresholds.js";

/** All that decides a run. */
export interface Scenario extends Mix {
  readonly url: URL;
  /** The name of its shape, or "stages". */
  readonly shape: string;
  readonly stages: readonly Stage[];
  /** Seconds at the first stage's first rate that are not counted. */
  readonly warmupSeconds: number;
  readonly connections: number;
  /** Bearer tokens, one connection after another; none are sent if it is empty. */
  readonly keys: readonly string[];
  /** Headers of every request, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** From the time at which a request is due. */
  readonly timeoutMs: number;
  readonly isPrecise: boolean;
  readonly thresholds: readonly Threshold[];
}

/** Where the reports are written; not at all if undefined. */
export interface Outputs {
  readonly json: string | undefined;
  readonly html: string | undefined;
}
