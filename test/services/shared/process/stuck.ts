import { serveThread } from "../../../../services/shared/process/thread.js";

// A thread that is stuck when it is told so.

const methods = {
  say: (text: string): string => text,
  compute(_argument: string): string {
    for (;;);
  },
  async rest(ms: number): Promise<string> {
    await new Promise((done) => setTimeout(done, ms));
    return "rested";
  },
};

/** What the thread answers to. */
export type StuckMethods = typeof methods;

serveThread(methods);
