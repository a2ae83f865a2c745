/**
 * The beginnings of a buffer, by their length: each is made once. They are for keys that are written into the buffer, because
 * lmdb copies a key at once.
 */
export class Beginnings {
  readonly #known: Buffer[] = [];

  constructor(private readonly buffer: Buffer) {}

  of(length: number): Buffer {
    this.#known[length] ??= this.buffer.subarray(0, length);
    return this.#known[length];
  }
}
