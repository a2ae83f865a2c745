import { resourceExhausted } from "../shared/rpc/errors.js";

/** Bounds how much expensive work runs at once, and how much waits. */
export interface Semaphore {
  /** @throws ConnectError resource_exhausted, where too much is waiting already. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSemaphore(running: number, waiting: number): Semaphore {
  const queue: (() => void)[] = [];
  let free = running;
  return {
    async run(work) {
      if (free > 0) free--;
      else {
        if (queue.length >= waiting) throw resourceExhausted("too many sign-ins at once: try again shortly");
        await new Promise<void>((resolve) => queue.push(resolve));
      }
      try {
        return await work();
      } finally {
        const next = queue.shift();
        // The place passes to the next in line without becoming free in between.
        if (next === undefined) free++;
        else next();
      }
    },
  };
}
