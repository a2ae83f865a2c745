import type { RootDatabase } from "lmdb";
import { unavailable } from "../../rpc/errors.js";

// When the disk takes no more, LMDB rejects the transactions of the commit
// that failed. Whoever waits for one hears of it; it also rejects promises
// that nobody holds, which must not end the process.

/** Hears of the failing commits of an environment, for those that nobody waits for. */
export function hearCommits(root: RootDatabase): void {
  // The promise of a batch is made after this event, in the same turn.
  root.on("beforecommit", () => queueMicrotask(() => void root.committed.then(heard, heard)));
}

/** What is told of a transaction that failed: a disk's refusal in words for the caller, anything else as it is. */
export function told(error: unknown): unknown {
  const { commitError } = error as { readonly commitError?: Promise<never> };
  if (commitError === undefined) return error;
  commitError.catch(heard);
  return unavailable("the store cannot write to its disk now, so this change was not saved: try again later", error);
}

function heard(): void {}
