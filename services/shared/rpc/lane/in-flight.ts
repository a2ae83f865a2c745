/**
 * What a connection has in flight, each by an id. There are few at once, and to look through them takes less time than
 * to look one up.
 *
 * A Map would do, at the price of a fifth of a call: entries that come and go use up its tables, and a table that has
 * become old keeps what stood in it, and the table that followed it, until the next collection of all that is old. Most
 * calls outlived the collections of what is new.
 */
export class InFlight<T> {
  readonly #ids: Uint32Array;
  readonly #all: (T | undefined)[];
  #size = 0;

  /** @param most how many there is room for. */
  constructor(most: number) {
    this.#ids = new Uint32Array(most);
    this.#all = new Array<T | undefined>(most).fill(undefined);
  }

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size === this.#all.length;
  }

  has(id: number): boolean {
    return this.#placeOf(id) !== undefined;
  }

  /**
   * Takes one in.
   *
   * @param id of 32 bits, which no other one has.
   */
  add(id: number, one: T): void {
    this.#ids[this.#size] = id;
    this.#all[this.#size++] = one;
  }

  /** Takes out the one with this id; undefined if it is not there. The last one takes its place. */
  take(id: number): T | undefined {
    const place = this.#placeOf(id);
    if (place === undefined) return undefined;
    const one = this.#all[place];
    const last = --this.#size;
    this.#ids[place] = this.#ids[last] as number;
    this.#all[place] = this.#all[last];
    this.#all[last] = undefined;
    return one;
  }

  /** Takes out all. */
  takeAll(): T[] {
    const all = this.#all.slice(0, this.#size) as T[];
    this.#all.fill(undefined);
    this.#size = 0;
    return all;
  }

  #placeOf(id: number): number | undefined {
    for (let place = 0; place < this.#size; place++) if (this.#ids[place] === id) return place;
    return undefined;
  }
}
