/** What waits is done in so much of a turn of the event loop, in milliseconds; one thing always is. */
const SLICE_MS = 2;
/** And no more than so many: each who is answered asks again, and to be asked costs more than to answer. */
const A_TURN = 16;
/** The most that waits. */
const MOST = 4_096;

/** What is done only while there is time, a little in each turn of the event loop, first come first. */
export class LateTurns {
  private waiting: (() => void)[] = [];
  private next = 0;

  /** @param aTurn no more than so many are done in a turn. */
  constructor(private readonly aTurn = A_TURN) {}

  /** Takes what is to be done; false where too much waits already. */
  add(run: () => void): boolean {
    const { length } = this.waiting;
    if (length - this.next >= MOST) return false;
    this.waiting.push(run);
    if (length === 0) setImmediate(() => this.turn());
    return true;
  }

  private turn(): void {
    const until = performance.now() + SLICE_MS;
    do {
      const run = this.waiting[this.next] as () => void;
      this.next++;
      run();
    } while (this.next < this.waiting.length && this.next < this.aTurn && performance.now() < until);
    this.waiting.splice(0, this.next);
    this.next = 0;
    if (this.waiting.length > 0) setImmediate(() => this.turn());
  }
}
