import type { Log } from "../../services/shared/process/log.js";
import { traceIdOf } from "../../services/shared/rpc/traceparent.js";

/** A call of a tool, and when what began, by performance.now(). 0 for what did not happen. */
export interface Timed {
  readonly server: string;
  readonly tool: string;
  readonly caller: string;
  readonly key: string | undefined;
  readonly traceparent: string;
  /** The headers of its request were here. */
  readonly startedAt: number;
  /** It was read, and its turn had come. */
  readonly begunAt: number;
  /** Its service answered. */
  readonly answeredAt: number;
  readonly now: number;
  readonly outcome: string;
}

/** Logs calls that take too long: which, for whom, and where the time went; never their arguments. */
export interface SlowCalls {
  /** Calls of so many milliseconds and more are slow. */
  readonly fromMs: number;
  note(call: Timed): void;
}

/** @param slowMs 0 for no call. */
export function createSlowCalls(slowMs: number, log: Log): SlowCalls {
  return {
    fromMs: slowMs === 0 ? Number.POSITIVE_INFINITY : slowMs,
    note({ startedAt, begunAt, answeredAt, now, traceparent, ...said }) {
      log.warn(
        {
          ...said,
          trace: traceIdOf(traceparent),
          ms: Math.round(now - startedAt),
          before_ms: Math.round(begunAt - startedAt),
          service_ms: Math.round((answeredAt || now) - begunAt),
          answer_ms: answeredAt === 0 ? 0 : Math.round(now - answeredAt),
        },
        "a slow tool call",
      );
    },
  };
}
