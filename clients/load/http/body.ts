/** Bytes that are kept for the next body. */
const KEPT_BYTES = 1_024 * 1_024;
const FIRST_BYTES = 4_096;

/** The body of one answer after another, in one place: new memory for each would cost more than to read it. */
export class Body {
  private bytes = Buffer.alloc(0);
  private length = 0;

  get size(): number {
    return this.length;
  }

  /** What was added; valid until the next body begins. */
  get all(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** Begins the next body. */
  begin(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.alloc(0);
  }

  /** Adds a copy of some bytes. */
  add(bytes: Buffer, start: number, end: number): void {
    const length = this.length + end - start;
    if (length > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, length, this.bytes.length * 2));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    bytes.copy(this.bytes, this.length, start, end);
    this.length = length;
  }
}
