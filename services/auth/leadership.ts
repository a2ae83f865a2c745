import type { AuthStore } from "./store.js";

/**
 * Leadership of one auth process at a time: only the leader gives leases. The
 * epoch is its fencing token.
 *
 * Two processes overlap when one is replaced by another, and one that was
 * frozen may wake up after its successor began. Leases given by one are unknown
 * to the other, so the older has to notice that its time is over, and the
 * younger has to wait until it must have.
 */
export interface Leadership {
  /** Grows with every process that takes over. */
  readonly epoch: number;
  /** It was confirmed lately that nobody has taken over. */
  held(): boolean;
  /** Asks the store whether nobody has taken over. */
  confirm(): Promise<boolean>;
  /** Ends the confirmations; leadership lapses with the last of them. */
  close(): void;
}

const EPOCH = "epoch";

/**
 * Takes over from any process before.
 *
 * @param holdMs how long a confirmation counts; a successor waits for as long.
 */
export async function takeLeadership({ state }: AuthStore, holdMs: number): Promise<Leadership> {
  const record = await state.findOneAndUpdate(
    { _id: EPOCH },
    { $inc: { n: 1 } },
    { upsert: true, returnDocument: "after" },
  );
  const epoch = record?.n ?? 1;
  let confirmedAt = performance.now();
  let lost = false;

  async function confirm(): Promise<boolean> {
    const begun = performance.now();
    const now = await state.findOne({ _id: EPOCH });
    if (now?.n !== epoch) lost = true;
    else confirmedAt = Math.max(confirmedAt, begun);
    return !lost;
  }
  const timer = setInterval(() => void confirm().catch(() => undefined), holdMs / 3).unref();

  return {
    epoch,
    held: () => !lost && performance.now() - confirmedAt < holdMs,
    confirm,
    close: () => clearInterval(timer),
  };
}
