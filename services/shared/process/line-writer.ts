import { write, writeSync } from "node:fs";
import type { LineTarget } from "./gathered-lines.js";

/** After what time it is tried again to write to a reader that is behind, in milliseconds. */
const AGAIN_MS = 20;
/** The most that waits for such a reader, in bytes: what comes beyond it is dropped. */
const MOST_WAITING = 8 << 20;
/** How long the end of a process waits for such a reader, in milliseconds. */
const END_MS = 5_000;

/**
 * Writes texts to a file descriptor in their order, by a thread of Node's pool. A process works, and ends, without its log:
 * what cannot be written is dropped, because nobody reads it any more, a disk is full, or the reader is too far behind.
 * SonicBoom, which pino brings, tries for ever to write what is left at the end.
 */
export class LineWriter implements LineTarget {
  #waiting: Buffer[] = [];
  #size = 0;
  #isWriting = false;
  /** Bytes that were dropped because the reader is behind. */
  #dropped = 0;

  constructor(private readonly fd: number) {}

  write(text: string): void {
    if (this.#size > MOST_WAITING) {
      this.#dropped += Buffer.byteLength(text);
      return;
    }
    this.#add(text);
    if (!this.#isWriting) this.#next();
  }

  #add(text: string): void {
    const bytes = Buffer.from(this.#notice() + text);
    this.#waiting.push(bytes);
    this.#size += bytes.length;
  }

  /** A line about what was dropped, as pino writes a warning; "" if nothing was. */
  #notice(): string {
    if (this.#dropped === 0) return "";
    const line = {
      level: 40,
      time: Date.now(),
      bytes: this.#dropped,
      msg: "lines of the log were dropped: its reader was behind",
    };
    this.#dropped = 0;
    return `${JSON.stringify(line)}\n`;
  }

  /** What a thread has not written within {@link AGAIN_MS} may come after what is written here, or not at all. */
  flushSync(text = ""): void {
    if (text !== "") this.#add(text);
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const end = Date.now() + END_MS;
    if (this.#isWriting) Atomics.wait(pause, 0, 0, AGAIN_MS);
    for (let bytes = this.#waiting.shift(); bytes !== undefined; ) {
      try {
        const left: Buffer = bytes.subarray(writeSync(this.fd, bytes));
        bytes = left.length > 0 ? left : this.#waiting.shift();
      } catch (error) {
        if (!isBehind(error) || Date.now() > end) return;
        Atomics.wait(pause, 0, 0, AGAIN_MS);
      }
    }
  }

  #next(): void {
    const bytes = this.#waiting.shift();
    this.#isWriting = bytes !== undefined;
    if (bytes === undefined) return;
    write(this.fd, bytes, (error, written) => {
      const left = error === null ? bytes.subarray(written) : isBehind(error) ? bytes : Buffer.alloc(0);
      this.#size -= bytes.length - left.length;
      if (left.length > 0) this.#waiting.unshift(left);
      // A reader that is behind keeps no process alive: what waits is written at its end.
      if (error !== null && isBehind(error)) setTimeout(() => this.#next(), AGAIN_MS).unref();
      else this.#next();
    });
  }
}

function isBehind(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}
