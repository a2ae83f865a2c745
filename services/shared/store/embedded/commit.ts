import type { RootDatabase } from "lmdb";
import { unavailable } from "../../rpc/errors.js";
import type { Write } from "../store.js";

// When the disk takes no more, LMDB rejects the transactions of the commit
// that failed. Whoever waits for one hears of it; it also rejects promises
// that nobody holds, which must not end the process.

/** Hears of the failing commits of an environment, for those that nobody waits for. */
export function hearCommits(root: RootDatabase): void {
  // The promise of a batch is made after this event, in the same turn.
  root.on("beforecommit", () => queueMicrotask(() => void root.committed.then(heard, heard)));
}

/**
 * What is told of a transaction that failed: a disk's refusal in words for the caller, anything else as it is. It does
 * not say that nothing was kept: a disk may hold pages of a commit that it then refused, and a call may have made an
 * earlier commit.
 */
export function told(error: unknown): unknown {
  const { commitError } = error as { readonly commitError?: Promise<never> };
  if (commitError === undefined) return error;
  commitError.catch(heard);
  return unavailable("the store cannot write to its disk now; ask an administrator to free space on it", error);
}

/** Makes writes of one environment: begun together, they are queued in their order and committed together. */
export async function inOneCommit(writes: readonly Write[]): Promise<void> {
  for (const outcome of await Promise.allSettled(writes.map((write) => write())))
    if (outcome.status === "rejected") throw outcome.reason;
}

function heard(): void {}
