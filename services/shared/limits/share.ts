import type { Bucket } from "./bucket.js";

/** What one key has of this process, whichever port it calls. */
export class Share {
  /** Calls under way. */
  active = 0;
  /** What waits for its turn, first come first. */
  readonly waiting: (() => void)[] = [];
  /** The turn of the event loop in which it last began something. */
  turn = -1;
  /** When that was, in milliseconds of the shares' clock. */
  begunAt = Number.NEGATIVE_INFINITY;
  /** The last turn in which the loop was busy and one of its calls under way. */
  busyTurn = Number.NEGATIVE_INFINITY;

  constructor(
    readonly ofKey: Bucket,
    readonly ofUser: Bucket,
  ) {}
}
