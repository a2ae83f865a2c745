import { histogram } from "../../shared/metrics/metrics.js";
import type { Log } from "../../shared/process/log.js";
import { traceIdOf } from "../../shared/rpc/traceparent.js";
import type { NoteExchange } from "./http.js";

const durations = histogram(
  "sallyport_platform_request_duration_seconds",
  "Time of requests to connected platforms, by server and by outcome: a class of status such as 2xx, the code of an error, or lost.",
  ["server", "outcome"],
);

/** Counts exchanges with platforms, and logs those that take too long. @param slowMs 0 logs none. */
export function noteExchanges(slowMs: number, log: Log): NoteExchange {
  return ({ target: { server }, tool, traceparent }, outcome, ms) => {
    durations.of(server, outcome).add(ms / 1_000);
    if (slowMs === 0 || ms < slowMs) return;
    log.warn(
      { server, rpc: tool, outcome, ms: Math.round(ms), trace: traceIdOf(traceparent) },
      "a slow platform request",
    );
  };
}
