import pLimit from "p-limit";
import { unavailable } from "../rpc/errors.js";

/** Bounds how much expensive work runs at once, and how much waits. */
export interface WorkLimit {
  /** @throws ConnectError unavailable, where too much is waiting already. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** @param running how much runs at once. @param waiting how much may wait before more is refused. */
export function createWorkLimit(running: number, waiting: number): WorkLimit {
  const limit = pLimit(running);
  return {
    async run(work) {
      if (limit.activeCount + limit.pendingCount >= running + waiting) {
        throw unavailable("too many calls of this kind are waiting: try again in a few seconds");
      }
      return limit(work);
    },
  };
}
