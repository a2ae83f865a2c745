import { setMaxListeners } from "node:events";
import { LONGEST_TIMER_MS } from "../../shared/rpc/steps/deadline.js";
import { Stop } from "../../shared/rpc/stop.js";

/**
 * Runs something that is told to stop when the signal is aborted, with the same reason, or by a `TimeoutError` when
 * `ms` milliseconds are over.
 */
export async function within<T>(signal: AbortSignal, ms: number, run: (stop: Stop) => Promise<T>): Promise<T> {
  const stop = new Stop();
  const stopWithIt = (): void => stop.abort(signal.reason);
  if (signal.aborted) stopWithIt();
  // A call may have many exchanges at once.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", stopWithIt);
  const late = (): void => stop.abort(new DOMException("The operation timed out", "TimeoutError"));
  const timer = setTimeout(late, Math.min(ms, LONGEST_TIMER_MS)).unref();
  try {
    return await run(stop);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stopWithIt);
  }
}
