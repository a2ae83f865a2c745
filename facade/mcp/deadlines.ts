/** Ends calls that take too long: all have the same time, so one timer looks after them in turn. */
export interface Deadlines {
  /** Calls `expire` after the time that every call has, unless let go before. */
  start(expire: () => void): Ticket;
  /** Ends the timer. */
  close(): void;
}

export interface Ticket {
  /** Milliseconds since the epoch. */
  readonly at: number;
  done(): void;
}

const TICK_MS = 100;

/** @param ms how long a call may take; kept to within a tenth of a second. */
export function createDeadlines(ms: number): Deadlines {
  // Insertion order is the order of expiry.
  const waiting = new Set<Pending>();
  const timer = setInterval(() => {
    const now = Date.now();
    for (const pending of waiting) {
      if (pending.at > now) return;
      waiting.delete(pending);
      pending.expire();
    }
  }, TICK_MS);
  timer.unref();
  return {
    start(expire) {
      const pending = new Pending(Date.now() + ms, expire, waiting);
      waiting.add(pending);
      return pending;
    },
    close: () => clearInterval(timer),
  };
}

class Pending implements Ticket {
  constructor(
    readonly at: number,
    readonly expire: () => void,
    private readonly waiting: Set<Pending>,
  ) {}

  done(): void {
    this.waiting.delete(this);
  }
}
