import { ThreadEndedError } from "../../shared/process/asked.js";
import { createThread } from "../../shared/process/thread.js";
import type { AnswerMethods } from "./apart/answers.js";

/** Decodes and looks at large answers of platforms in threads: that takes longer than parsing them. */
export interface LargeAnswers {
  /**
   * The text of an answer.
   *
   * @param url of the platform: what one of them answers waits for its own, as long as there are few platforms.
   * @throws Error named TOO_MUCH that says which bound is passed; UnreadableError where the thread ended with it or
   *   before it; the signal's reason.
   */
  textOf(url: string, bytes: Uint8Array, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** The answer was not read: it takes too long or too much memory, or another one did. */
export class UnreadableError extends Error {}

const THREADS = 4;
/** Heap. The longest answer takes a fifth of it. */
const MEGABYTES = 256;
/** For one answer; the dearest take a tenth of a second, which a busy machine gives them late. */
const MS = 20_000;
/** How long a thread is kept without an answer: its memory goes with it. */
const IDLE_MS = 10_000;

/** The threads start with the first large answer. */
export function createLargeAnswers(): LargeAnswers {
  const module = new URL("apart/answers.js", import.meta.url);
  const options = { megabytes: MEGABYTES, ms: MS, idleMs: IDLE_MS };
  const threads = Array.from({ length: THREADS }, () => createThread<AnswerMethods>(module, options));
  const numbers = new Map<string, number>();
  return {
    async textOf(url, bytes, signal) {
      const number = numbers.get(url) ?? numbers.size;
      numbers.set(url, number);
      const thread = threads[number % THREADS] as (typeof threads)[number];
      try {
        return await thread.call("read", bytes, [bytes.buffer as ArrayBuffer], signal);
      } catch (error) {
        if (error instanceof ThreadEndedError) throw new UnreadableError(error.message, { cause: error });
        throw error;
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
