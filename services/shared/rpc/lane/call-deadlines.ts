import { Member, Ring } from "../../ring.js";
import { LONGEST_TIMER_MS } from "../steps/deadline.js";

/** What has a deadline. */
export abstract class Timed extends Member {
  /** Milliseconds since the epoch. */
  abstract readonly deadline: number;
  /** The deadline has passed. */
  abstract late(): void;
}

/**
 * Ends calls at their deadlines with one timer, which is set for the first of them: most calls of a process have
 * as long as those before, and end long before, so that it is hardly ever set.
 */
export class CallDeadlines {
  readonly #calls = new Ring<Timed>();
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;

  add(call: Timed): void {
    this.#calls.enter(call);
    if (call.deadline < this.#at) this.#set(call.deadline);
  }

  #set(at: number): void {
    clearTimeout(this.#timer);
    this.#at = at;
    // The connections of calls keep the process alive; this need not.
    this.#timer = setTimeout(() => this.#look(), Math.min(at - Date.now(), LONGEST_TIMER_MS)).unref();
  }

  #look(): void {
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const call of this.#calls) {
      if (call.deadline > now) next = Math.min(next, call.deadline);
      else {
        call.leave();
        call.late();
      }
    }
    this.#at = Number.POSITIVE_INFINITY;
    if (next !== Number.POSITIVE_INFINITY) this.#set(next);
  }
}
