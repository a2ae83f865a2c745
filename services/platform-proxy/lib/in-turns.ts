import pLimit from "p-limit";

const AT_ONCE = 6;

/** Runs a few at a time, in order, so that one call does not take the whole platform; nothing more begins after a failure. */
export async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const limit = pLimit(AT_ONCE);
  try {
    return await Promise.all(items.map((item) => limit(run, item)));
  } catch (error) {
    limit.clearQueue();
    throw error;
  }
}
