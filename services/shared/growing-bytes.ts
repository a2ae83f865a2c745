/** Bytes that come in pieces, in one piece of memory: to keep each piece would take a hundred bytes more for each. */
export class GrowingBytes {
  #bytes = new Uint8Array();
  size = 0;

  /** Copies a piece behind what is there. */
  add(piece: Uint8Array): void {
    const size = this.size + piece.length;
    if (size > this.#bytes.length) {
      const more = new Uint8Array(Math.max(size, 2 * this.#bytes.length));
      more.set(this.#bytes.subarray(0, this.size));
      this.#bytes = more;
    }
    this.#bytes.set(piece, this.size);
    this.size = size;
  }

  /** All of it, in memory of its own; nothing is added after that. */
  whole(): Uint8Array<ArrayBuffer> {
    return this.size === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.size);
  }
}
