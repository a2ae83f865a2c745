import { serveThread } from "../../../../services/shared/process/thread.js";

// A process that tells of itself, and takes what it should not.

const methods = {
  about: (_: string) => ({
    pid: process.pid,
    settings: Object.keys(process.env).filter((name) => name === "MONGODB_URI"),
  }),
  bytes: (some: Uint8Array): Uint8Array => Uint8Array.from(some).reverse(),
  compute(_: string): string {
    for (;;);
  },
  heap(_: string): string {
    const all: unknown[] = [];
    for (;;) all.push(new Array(1_000).fill(all.length));
  },
  /** Beside the heap. */
  async buffers(_: string): Promise<string> {
    const all: Buffer[] = [];
    for (;;) {
      all.push(Buffer.alloc(2 ** 20, 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  },
};

/** What the process answers to. */
export type ProcessMethods = typeof methods;

serveThread(methods);
