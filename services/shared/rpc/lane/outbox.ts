/** So much is written together, in bytes; one that is longer goes by itself. */
const MOST = 1 << 20;

/** Gathers what is to be written, and writes it together: a write costs more than most of what is written. */
export class Outbox {
  readonly #write: (all: readonly Buffer[], bytes: number) => void;
  #all: Buffer[] = [];
  #bytes = 0;
  #isSoon = false;

  constructor(write: (all: readonly Buffer[], bytes: number) => void) {
    this.#write = write;
  }

  /** Adds one to what is written with the next flush. */
  add(one: Buffer): void {
    if (this.#bytes + one.length > MOST) this.flush();
    this.#all.push(one);
    this.#bytes += one.length;
  }

  flush(): void {
    const [all, bytes] = [this.#all, this.#bytes];
    if (bytes === 0) return;
    this.#all = [];
    this.#bytes = 0;
    this.#write(all, bytes);
  }

  /** Flushes at the end of this turn of the event loop. To wait for that costs as much as a write. */
  flushSoon(): void {
    if (this.#isSoon || this.#bytes === 0) return;
    this.#isSoon = true;
    setImmediate(this.#endOfTurn);
  }

  readonly #endOfTurn = (): void => {
    this.#isSoon = false;
    this.flush();
  };
}
