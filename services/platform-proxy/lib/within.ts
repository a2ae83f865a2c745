import { setMaxListeners } from "node:events";
import { LONGEST_TIMER_MS } from "../../shared/rpc/steps/deadline.js";

/**
 * Runs something with a signal of its own, which is aborted when the given one is, with the same reason, or by a `TimeoutError`
 * after so many milliseconds. It takes half of the time of `AbortSignal.any` with `AbortSignal.timeout`.
 */
export async function within<T>(signal: AbortSignal, ms: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(signal.reason);
  if (signal.aborted) stop();
  // A call may have many exchanges at once.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", stop);
  const late = (): void => stopping.abort(new DOMException("The operation timed out", "TimeoutError"));
  const timer = setTimeout(late, Math.min(ms, LONGEST_TIMER_MS)).unref();
  try {
    return await run(stopping.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
