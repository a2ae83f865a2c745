/** So much is written together, in bytes; one that is longer goes by itself. */
const MOST = 1 << 20;

/**
 * Gathers what is to be written in one turn of the event loop, and writes it together at its end: a write costs more than
 * most of what is written.
 */
export class Outbox {
  readonly #write: (all: readonly Buffer[], bytes: number) => void;
  #all: Buffer[] = [];
  #bytes = 0;

  constructor(write: (all: readonly Buffer[], bytes: number) => void) {
    this.#write = write;
  }

  add(one: Buffer): void {
    if (this.#bytes + one.length > MOST) this.#flush();
    if (this.#all.push(one) === 1) setImmediate(this.#flush);
    this.#bytes += one.length;
  }

  readonly #flush = (): void => {
    const [all, bytes] = [this.#all, this.#bytes];
    if (bytes === 0) return;
    this.#all = [];
    this.#bytes = 0;
    this.#write(all, bytes);
  };
}
