import { createUsageCounter, type Usage, type UsageCounter } from "./usage.js";

/** Keys that are written at a time. */
const LIMIT = 10_000;
/** How long uses wait until they are written: the last one is seen within a second. */
const WAIT_MS = 500;

/** A counter whose counts are written down while there are any. */
export interface UsageWriter {
  readonly counter: UsageCounter;
  /** Writes the last uses. */
  close(): Promise<void>;
}

/** How uses are written down. */
export interface UsageWriterOptions {
  write(usages: readonly Usage[]): Promise<void>;
  /** Hears of uses that could not be written; they are counted on. */
  failed(error: unknown): void;
}

/** Counts uses, and has them written a moment after the first one. */
export function createUsageWriter({ write, failed }: UsageWriterOptions): UsageWriter {
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const counter = createUsageCounter(() => {
    timer ??= setTimeout(writeNow, WAIT_MS).unref();
  });

  async function writeAll(): Promise<void> {
    for (let taken = counter.take(LIMIT); taken.length > 0; taken = counter.take(LIMIT)) {
      try {
        await write(taken);
      } catch (error) {
        counter.restore(taken);
        failed(error);
        return;
      }
      // What is used meanwhile is written next time: in a busy process there is always something.
      if (taken.length < LIMIT) return;
    }
  }

  /** One write at a time. */
  function writeNow(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(writeAll);
    return writing;
  }

  return { counter, close: writeNow };
}
