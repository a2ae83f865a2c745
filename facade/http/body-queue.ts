import { type BodyStream, BodyTooLongError, ClientGoneError } from "./exchange.js";

/** The connection that a body comes from. */
export interface Tap {
  pause(): void;
  resume(): void;
}

/** A body between the edge, which pushes, and a page, which pulls; the tap is shut while nobody waits. */
export class BodyQueue implements BodyStream {
  tooLong = false;
  private readonly waiting: Uint8Array[] = [];
  private ended = false;
  private failure: Error | undefined;
  private wake: (() => void) | undefined;

  constructor(private readonly tap: Tap) {}

  /** Takes a piece, which is kept as it is; `last` with the body's end. */
  push(piece: Uint8Array, last: boolean): void {
    if (this.ended) return;
    if (piece.byteLength > 0) this.waiting.push(piece);
    this.ended = last;
    // With all of it here the connection is read on, which is how it is known to live.
    if (last) this.tap.resume();
    else if (this.wake === undefined) this.tap.pause();
    this.notify();
  }

  /** Ends the body because it is longer than `limit` bytes. */
  overflow(limit: number): void {
    if (this.ended) return;
    this.tooLong = true;
    this.fail(new BodyTooLongError(`the body is longer than ${limit} bytes`));
  }

  /** Ends the body because no more of it will come. */
  cut(): void {
    this.fail(new ClientGoneError("the client went away"));
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.waiting.shift();
        if (piece !== undefined) yield piece;
        else if (this.failure !== undefined) throw this.failure;
        else if (this.ended) return;
        else await this.more();
      }
    } finally {
      // A page that has seen enough lets the rest pass by.
      this.ended = true;
      this.waiting.length = 0;
      this.tap.resume();
    }
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      this.tap.resume();
    });
  }

  private fail(error: Error): void {
    if (this.ended) return;
    this.ended = true;
    this.failure = error;
    this.waiting.length = 0;
    this.notify();
  }

  private notify(): void {
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  }
}
