import { serveThread } from "../../../../services/shared/process/thread.js";

// A process in which work goes wrong, in the ways in which it can.

const methods = {
  say: (text: string): string => text,
  repeat: (count: string): string => "a".repeat(Number(count)),
  fail(text: string): string {
    throw new Error(text);
  },
  compute(): string {
    for (;;);
  },
  grow(): string {
    const all: unknown[] = [];
    for (;;) all.push(new Array(1_000).fill(all.length));
  },
  stop(): string {
    process.exit(1);
  },
  /** Says which process it is, and waits. */
  waitAs: (_text: string, signal: AbortSignal, tell: (text: string) => void): Promise<string> => {
    tell(String(process.pid));
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("ended")));
  },
  wait: (_text: string, signal: AbortSignal): Promise<string> =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve("ended"))),
};

/** What the process answers to. */
export type MisbehavingMethods = typeof methods;

serveThread(methods, "at once");
