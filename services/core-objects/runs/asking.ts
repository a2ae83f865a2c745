import { setTimeout as sleep } from "node:timers/promises";
import { RunWaits } from "./ending.js";
import { ModelError, type Said } from "./model.js";

// How often a model is asked that does not answer, and when.

/** How often one is asked again that did not answer, and after how many milliseconds; twice as long the next time. */
const RETRIES = 2;
const FIRST_MS = 500;
/** How long one that is too busy is waited for, if it does not say; twice as long each time, in milliseconds. */
const FIRST_BUSY_MS = 2_000;
const LONGEST_BUSY_MS = 60_000;
/** A longer wait than this needs no worker, in milliseconds. */
const LONGEST_HELD_MS = 5_000;

/** How a model is asked until it answers. */
export interface Asking {
  /** Sends one request. */
  ask(): Promise<Said>;
  /** How often the model was too busy before. */
  readonly waits: number;
  /** How long the run may still take, in milliseconds. */
  left(): number;
  readonly signal: AbortSignal;
  /** There is another model to ask: this one is not waited for as long. */
  readonly hasOther: boolean;
}

/**
 * Asks a model again that did not answer, and waits for one that is too busy, as long as the run has time.
 *
 * @throws ModelError, if it does not answer; RunWaits, if the run waits for it without a worker.
 */
export async function askUntilAnswered({ ask, waits, left, signal, hasOther }: Asking): Promise<Said> {
  let busy = waits;
  for (let failed = 0; ; ) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      if (error.kind === "down" && failed < RETRIES) await sleep(FIRST_MS * 2 ** failed++, undefined, { signal });
      else if (error.kind === "busy") {
        const ms = error.afterMs ?? Math.min(LONGEST_BUSY_MS, FIRST_BUSY_MS * 2 ** busy);
        if (ms >= left())
          throw new ModelError(
            "busy",
            `${error.message}. It can be asked again in ${Math.ceil(ms / 1_000)} seconds, which is more than the run's time limit leaves: set a higher timeout_seconds, or trigger the run later`,
          );
        busy++;
        if (hasOther && (ms > LONGEST_HELD_MS || busy > RETRIES)) throw error;
        if (ms > LONGEST_HELD_MS) throw new RunWaits(ms, busy, error.message);
        await sleep(ms, undefined, { signal });
      } else throw error;
    }
  }
}
