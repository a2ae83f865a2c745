import { codeToString } from "@connectrpc/connect/protocol-connect";
import { counter } from "../metrics/metrics.js";
import type { Observe } from "./steps/record.js";

const calls = counter("sallyport_rpc_calls_total", "Calls of rpcs that ended, by service and by code.", [
  ...["service", "code"],
]);

/** Counts a call that ended. @param next hears of it too. */
export function countCalls(next: Observe | undefined): Observe {
  return (method, call, outcome) => {
    const { code } = outcome;
    calls.of(method.parent.typeName, code === undefined ? "ok" : codeToString(code)).add();
    next?.(method, call, outcome);
  };
}
