import { Member, Ring } from "../../services/shared/ring.js";

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
  const calls = new Ring<Pending>();
  const expireUntil = (time: number, why: "late" | "closing"): void => {
    for (let { first } = calls; first !== undefined && first.at <= time; first = calls.first) {
      first.leave();
      first.expire(why);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    expireUntil(Date.now(), "late");
    if (!calls.isEmpty || timer === undefined) return;
    // A façade that nobody calls does not wake up.
    clearInterval(timer);
    timer = undefined;
  };
  return {
    start(expire) {
      const pending = new Pending(Date.now() + ms, expire);
      calls.enter(pending);
      timer ??= setInterval(tick, TICK_MS).unref();
      return pending;
    },
    close() {
      clearInterval(timer);
      expireUntil(Number.POSITIVE_INFINITY, "closing");
    },
  };
}

class Pending extends Member implements Ticket {
  constructor(
    readonly at: number,
    readonly expire: (why: "late" | "closing") => void,
  ) {
    super();
  }

  done(): void {
    this.leave();
  }
}
