/**
 * The beginnings of a buffer, by their length: each is made once. What is written at the start of the buffer is handed on as
 * one of them where whoever takes it copies it at once, as lmdb does a key.
 */
export class Beginnings {
  readonly #known: Buffer[] = [];

  constructor(private readonly buffer: Buffer) {}

  of(length: number): Buffer {
    this.#known[length] ??= this.buffer.subarray(0, length);
    return this.#known[length];
  }
}
