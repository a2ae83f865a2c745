import { ThreadEndedError, ThreadStuckError } from "../../shared/process/asked.js";
import type { Processes } from "../../shared/process/processes.js";
import type { CuttingMethods } from "./apart/cutting.js";
import { type Cut, cutOf, type Part } from "./cut.js";
import { DocumentError } from "./document-error.js";

/** Characters of a text that is cut at once: some milliseconds at most. */
const SHORT = 8 * 1024;
/** A text of 2 MiB and its passages take a tenth of this heap. */
const BOUNDS = { megabytes: 256, wholeMegabytes: 640, busyMs: Number.POSITIVE_INFINITY, isLow: true };

/** The dearest text known of 2 MiB takes six seconds on a busy machine. */
const CUT_MS = 30_000;
/** How long the process is kept without a text to cut: its memory goes with it. */
const IDLE_MS = 10_000;

/** Cuts texts into passages: long ones in a process of their own. */
export interface Cutter {
  /** @throws DocumentError for one that takes too long. */
  cut(part: Part): Promise<Cut>;
  /**
   * The text of a short file that has nothing but text: the process that it would have of its own takes longer to start
   * than all the rest.
   *
   * @throws DocumentError for what is no text.
   */
  plain(file: Uint8Array): Promise<string>;
  close(): Promise<void>;
}

/** The process starts when it is first needed. */
export function createCutter(processes: Processes): Cutter {
  const options = { ...BOUNDS, ms: CUT_MS, idleMs: IDLE_MS };
  const thread = processes.create<CuttingMethods>(new URL("apart/cutting.js", import.meta.url), options);
  return {
    async cut(part) {
      if (part.text.length <= SHORT) return cutOf(part);
      return thread.call("cut", part).catch((error: Error) => {
        if (!(error instanceof ThreadStuckError)) throw error;
        throw new DocumentError(
          `it cannot be cut into passages, because ${error.message}: divide it into several documents`,
        );
      });
    },
    plain: (file) =>
      thread.call("plain", Uint8Array.from(file)).catch((error: Error) => {
        if (error instanceof ThreadEndedError) throw error;
        throw new DocumentError(`it cannot be read as text: ${error.message}`);
      }),
    close: () => thread.close(),
  };
}
