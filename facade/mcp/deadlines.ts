/** Ends calls that take too long: all have the same time, so one timer looks after them in turn. */
export interface Deadlines {
  /** Calls `expire` after the time that every call has, or at close, unless let go before. */
  start(expire: (why: "late" | "closing") => void): Ticket;
  /** Ends the calls that still run, and the timer. */
  close(): void;
}

/** One call under a deadline; `done` lets it go. */
export interface Ticket {
  /** Milliseconds since the epoch. */
  readonly at: number;
  done(): void;
}

const TICK_MS = 100;

/** @param ms how long a call may take; kept to within a tenth of a second. */
export function createDeadlines(ms: number): Deadlines {
  // A ring in the order of expiry, through its own head. A Set would be rebuilt
  // every few calls, and its old tables keep what they held from being collected.
  const head = new Pending(Number.POSITIVE_INFINITY, () => undefined);
  const expireUntil = (time: number, why: "late" | "closing"): void => {
    while (head.next !== head && head.next.at <= time) {
      const { next } = head;
      next.done();
      next.expire(why);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    expireUntil(Date.now(), "late");
    if (head.next !== head || timer === undefined) return;
    // A façade that nobody calls does not wake up.
    clearInterval(timer);
    timer = undefined;
  };
  return {
    start(expire) {
      const pending = new Pending(Date.now() + ms, expire);
      pending.enter(head);
      timer ??= setInterval(tick, TICK_MS).unref();
      return pending;
    },
    close() {
      clearInterval(timer);
      expireUntil(Number.POSITIVE_INFINITY, "closing");
    },
  };
}

class Pending implements Ticket {
  next: Pending = this;
  private previous: Pending = this;

  constructor(
    readonly at: number,
    readonly expire: (why: "late" | "closing") => void,
  ) {}

  /** Takes the last place of the ring. */
  enter(head: Pending): void {
    this.next = head;
    this.previous = head.previous;
    head.previous.next = this;
    head.previous = this;
  }

  done(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
  }
}
