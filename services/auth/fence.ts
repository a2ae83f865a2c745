import { unavailable } from "../shared/rpc/errors.js";
import type { EventOrder } from "./event-order.js";

/** Keeps a process that the others took for dead from writing until it has joined them again. */
export interface Fence {
  /** Asked before anything is written. @throws ConnectError unavailable, while this process is not one of them. */
  check(): Promise<void>;
}

/**
 * A process may still freeze between this check and its write, and write late.
 * That breaks no promise: the event of the write goes through the store to the
 * watchers of every process, and only then does the write's caller get an answer.
 */
export function createFence(order: Pick<EventOrder, "held" | "confirm">): Fence {
  return {
    async check() {
      if (order.held()) return;
      const problem = await order.confirm().then(
        (held) => (held ? undefined : { cause: undefined }),
        (cause: unknown) => ({ cause }),
      );
      if (problem === undefined) return;
      throw unavailable("auth cannot reach its store: nothing was changed, try again in a few seconds", problem.cause);
    },
  };
}
