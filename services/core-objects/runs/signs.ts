import { cancelled, RunEnd, RunLost } from "./ending.js";
import type { Hold } from "./queue.js";

/** Signs of life within a lease. */
const SIGNS = 5;
/** How often a worker asks whether its run was cancelled through another process, in milliseconds. */
const HEARS_MS = 500;

/** What a run is watched with while a worker is at it. */
export interface Watched {
  /** Stops the work, with the reason. */
  readonly stop: AbortController;
  /** How long workers were at it, in milliseconds. */
  readonly worked: () => number;
  readonly leaseMs: number;
  /** Who asks the store at once when this process hears that some run was cancelled. */
  readonly listening: Set<() => void>;
}

/**
 * Renews the lease of a run, and stops the work on one that was cancelled, that another worker has, or whose time is
 * over.
 *
 * @returns what ends that.
 */
export function giveSigns(hold: Hold, { stop, worked, leaseMs, listening }: Watched): () => void {
  let until = performance.now() + leaseMs;
  let busy = false;
  const renew = async (): Promise<void> => {
    if (performance.now() > until) return stop.abort(new RunLost("the lease ran out"));
    if (worked() > hold.run.timeout_ms) {
      const seconds = hold.run.timeout_ms / 1_000;
      return stop.abort(
        new RunEnd("timeout", `it took longer than ${seconds} seconds: set a higher timeout_seconds with trigger_run`),
      );
    }
    if (busy) return;
    busy = true;
    const asked = performance.now();
    try {
      const { cancelling, error } = await hold.renew(leaseMs, worked());
      until = asked + leaseMs;
      if (cancelling) stop.abort(cancelled(error));
    } catch (error) {
      // What rests or has ended needs no lease; a store that does not answer may do so before the lease ends.
      if (error instanceof RunLost) stop.abort(error);
    } finally {
      busy = false;
    }
  };
  // Any process cancels a run in the store; a call in flight does not go on until the next sign of life.
  const hear = (): void =>
    void hold.check().catch((error) => {
      if (error instanceof RunEnd) stop.abort(error);
    });
  const timers = [setInterval(() => void renew(), leaseMs / SIGNS).unref(), setInterval(hear, HEARS_MS).unref()];
  listening.add(hear);
  return () => {
    for (const timer of timers) clearInterval(timer);
    listening.delete(hear);
  };
}
