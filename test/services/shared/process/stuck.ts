import { moving, serveThread } from "../../../../services/shared/process/thread.js";

// A thread that is stuck when it is told so.

let last: Uint8Array = new Uint8Array(0);

const methods = {
  say: (text: string): string => text,
  compute(_argument: string): string {
    for (;;);
  },
  async rest(ms: number): Promise<string> {
    await new Promise((done) => setTimeout(done, ms));
    return "rested";
  },
  /** The same bytes, which move there and back; how many the thread still has afterwards. */
  back(bytes: Uint8Array) {
    last = bytes;
    return moving({ bytes }, bytes);
  },
  /** Tells one word after another. */
  spell(words: string, _signal: AbortSignal, tell: (text: string) => void): string {
    for (const word of words.split(" ")) tell(word);
    return "spelled";
  },
  left: (_: string): number => last.byteLength,
};

/** What the thread answers to. */
export type StuckMethods = typeof methods;

serveThread(methods);
