import { setMaxListeners } from "node:events";
import { LONGEST_TIMER_MS } from "../../shared/rpc/steps/deadline.js";

/**
 * Runs something until a signal is aborted, or a time is over: then the signal that it is given is aborted, by a `TimeoutError` in
 * the second case. As `AbortSignal.any` with `AbortSignal.timeout`, in half of the time.
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
