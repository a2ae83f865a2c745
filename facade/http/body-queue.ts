import { BODY_MS, type Unread, WINDOW } from "./body-reader.js";
import { type BodyStream, BodyUnreadError, ClientGoneError } from "./exchange.js";

/** The connection that a body comes from. */
export interface Tap {
  pause(): void;
  resume(): void;
}

/** A body between the edge, which pushes, and a page, which pulls; the tap is shut while enough waits. */
export class BodyQueue implements BodyStream {
  unread: Unread | undefined;
  private readonly waiting: Uint8Array[] = [];
  private size = 0;
  private ended = false;
  private failure: Error | undefined;
  private wake: (() => void) | undefined;
  private clock: NodeJS.Timeout | undefined;

  /** @param bodyMs how long the body may take from when it is first waited for, in milliseconds. */
  constructor(
    private readonly tap: Tap,
    private readonly bodyMs = BODY_MS,
  ) {}

  /** Takes a piece, which is kept as it is; `last` with the body's end. */
  push(piece: Uint8Array, last: boolean): void {
    if (this.ended) return;
    if (piece.byteLength > 0) this.waiting.push(piece);
    this.size += piece.byteLength;
    if (last) this.end();
    // With all of it here the connection is read on, which is how it is known to live.
    if (last) this.tap.resume();
    else if (this.wake === undefined && this.size > WINDOW) this.tap.pause();
    this.notify();
  }

  /** Ends the body, though more of it may come. */
  giveUp(unread: Unread): void {
    if (this.ended) return;
    this.unread = unread;
    this.fail(new BodyUnreadError(`the body is given up: ${unread}`));
  }

  /** Ends the body because no more of it will come. */
  cut(): void {
    this.fail(new ClientGoneError("the client went away"));
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.waiting.shift();
        if (piece !== undefined) {
          this.size -= piece.byteLength;
          yield piece;
        } else if (this.failure !== undefined) throw this.failure;
        else if (this.ended) return;
        else await this.more();
      }
    } finally {
      // A page that has seen enough lets the rest pass by.
      this.end();
      this.waiting.length = 0;
      this.tap.resume();
    }
  }

  private more(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      this.clock ??= setTimeout(() => this.giveUp("too slow"), this.bodyMs);
      this.tap.resume();
    });
  }

  private fail(error: Error): void {
    if (this.ended) return;
    this.end();
    this.failure = error;
    this.waiting.length = 0;
    this.notify();
  }

  private end(): void {
    this.ended = true;
    clearTimeout(this.clock);
  }

  private notify(): void {
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  }
}
