/** Gathers what is to be written in one turn of the event loop, and writes it at once at its end: a write costs more than most of what is written. */
export class Outbox {
  readonly #write: (all: readonly Buffer[], bytes: number) => void;
  #all: Buffer[] = [];
  #bytes = 0;

  /** @param write is called once a turn. */
  constructor(write: (all: readonly Buffer[], bytes: number) => void) {
    this.#write = write;
  }

  add(one: Buffer): void {
    if (this.#all.push(one) === 1) setImmediate(this.#flush);
    this.#bytes += one.length;
  }

  readonly #flush = (): void => {
    const [all, bytes] = [this.#all, this.#bytes];
    this.#all = [];
    this.#bytes = 0;
    this.#write(all, bytes);
  };
}
