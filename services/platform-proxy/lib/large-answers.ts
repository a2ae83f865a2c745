import { createIsolation, type Work } from "../../shared/isolation/isolation.js";
import { MAX_REPLY_BYTES } from "./reply-bounds.js";
import type { AnswerMethods } from "./threads/answers.js";

/** Decodes and looks at large answers of platforms in threads, one a platform: that takes longer than parsing them. */
export interface LargeAnswers {
  /**
   * The text of an answer.
   *
   * @param url of the platform.
   * @throws Error named TOO_MUCH that says which bound is passed; MisbehavedError, BusyError; the signal's reason.
   */
  textOf(url: string, bytes: Uint8Array, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** Threads at a time: the platforms that are read at once. */
const THREADS = 4;
/** An answer waits for those before it. */
const PATIENCE_MS = 30_000;
const READING: Work<AnswerMethods> = {
  module: new URL("threads/answers.js", import.meta.url),
  megabytes: 256,
  // An answer's size bounds its time.
  busyMs: Number.POSITIVE_INFINITY,
  asked: MAX_REPLY_BYTES,
  answered: MAX_REPLY_BYTES,
  // The connections to a platform.
  atOnce: 64,
};

/** Begins without a thread. */
export function createLargeAnswers(): LargeAnswers {
  const isolation = createIsolation({ threads: THREADS, idleMs: 10_000, waitMs: PATIENCE_MS });
  return {
    async textOf(url, bytes, signal) {
      const patience = { ms: PATIENCE_MS, signal };
      return (await isolation.call(READING, { id: url, owner: url }, "read", bytes, patience)) as string;
    },
    close: () => isolation.close(),
  };
}
