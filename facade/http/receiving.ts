import type { Slot } from "../../services/shared/limits/slots.js";
import type { Excess } from "../../services/shared/rpc/json-shape.js";
import { BodyQueue } from "./body-queue.js";
import { BodyReader, type Unread, WINDOW } from "./body-reader.js";
import type { BodyStream, Exchange } from "./exchange.js";

/** Takes a piece of a body, whose memory is reused afterwards; `last` with the body's end. */
export type TakePiece = (piece: ArrayBuffer, last: boolean) => void;

/** So much of a body that its request was answered without is read and thrown away, so that the connection can go on; in bytes. */
const PASSING_BYTES = 256 << 10;
/** Text of more bytes is handed over as they are: who reads it decodes it in its turn. */
const LONG_TEXT = 64 << 10;

const NOTHING = new Uint8Array(0);

/**
 * How an exchange receives its body: whole or as a stream, to the bounds of
 * length, time and the memory of its slot. What it comes from, an edge says.
 */
export abstract class Receiving {
  abstract readonly headers: Exchange["headers"];
  /** Answered, or gone. */
  protected over = false;
  /** All of the body has come. */
  protected bodyEnded = false;
  private paused = false;
  private reader: BodyReader | undefined;
  private queue: BodyQueue | undefined;
  /** From hold() to letGo(): no more than a window of the body is read. */
  private held = false;
  private slot: Slot | undefined;
  /** Bytes of the body that count for the slot. */
  private kept = 0;

  /** @param bodyMs how long a body may take from its first piece on, in milliseconds. */
  constructor(private readonly bodyMs: number) {}

  abstract onGone(listener: () => void): void;
  /** Has the body's pieces handed over as they come. */
  protected abstract onPieces(take: TakePiece): void;
  /** Opens or shuts what they come from. */
  protected abstract tap(isOpen: boolean): void;

  readJson(limit: number, done: (text: string | Buffer | undefined, unread?: Unread | Excess) => void): void {
    if (this.declaredLength() > limit) {
      done(undefined, "too long");
      return;
    }
    const reader = new BodyReader(limit, this.bodyMs, this, (bytes, unread) => {
      const isLong = bytes !== undefined && bytes.byteLength > LONG_TEXT;
      const text = isLong ? undefined : bytes?.toString();
      // What decoding replaced is for the reader to see.
      const isPlain = text === undefined ? !isLong : !text.includes("\ufffd");
      if (isPlain || bytes === undefined) done(text, unread);
      else done(reader.isOwn ? bytes : Buffer.from(bytes), unread);
    });
    this.reader = reader;
    this.onPieces((piece, last) => {
      this.bodyEnded = last;
      reader.push(piece, last);
      if (!this.held || last || reader.size <= WINDOW) return;
      reader.halt();
      this.pause();
    });
  }

  bound(bytes: number, ms: number): void {
    this.reader?.bound(bytes, ms);
  }

  hold(): void {
    this.held = true;
  }

  letGo(): void {
    if (!this.held) return;
    this.held = false;
    this.resume();
    // Where nothing has come the clock has not begun.
    this.reader?.start(this.bodyMs);
  }

  occupy(slot: Slot): boolean {
    this.slot?.free(this.kept);
    this.slot = undefined;
    if (this.over) {
      slot.free(0);
      return true;
    }
    this.slot = slot;
    if (this.kept === 0 || slot.grow(this.kept)) return true;
    this.kept = 0;
    return false;
  }

  /** Counts bytes of the body for the slot; false if there are not as many. */
  keep(bytes: number): boolean {
    if (this.slot !== undefined && !this.slot.grow(bytes)) return false;
    this.kept += bytes;
    return true;
  }

  stream(limit: number): BodyStream {
    const queue = new BodyQueue(this, this.bodyMs);
    const declared = this.declaredLength();
    if (declared > limit) queue.giveUp("too long");
    else if (declared === 0 && this.headers["transfer-encoding"] === undefined) queue.push(NOTHING, true);
    else this.feed(queue, limit);
    return queue;
  }

  private feed(queue: BodyQueue, limit: number): void {
    let size = 0;
    this.onPieces((piece, last) => {
      this.bodyEnded = last;
      size += piece.byteLength;
      if (size > limit) queue.giveUp("too long");
      else if (!this.keep(piece.byteLength)) queue.giveUp("no room");
      else queue.push(new Uint8Array(piece.slice(0)), last);
    });
    this.onGone(() => queue.cut());
    this.queue = queue;
  }

  private declaredLength(): number {
    return Number(this.headers["content-length"] ?? 0);
  }

  pause(): void {
    if (this.over || this.paused) return;
    this.paused = true;
    this.tap(false);
  }

  resume(): void {
    if (this.over || !this.paused) return;
    this.paused = false;
    this.tap(true);
  }

  /** Too much of the body may come still for it to be read for nothing. */
  protected get leavesBody(): boolean {
    if (this.bodyEnded) return false;
    if (this.reader?.unread !== undefined || this.queue?.unread !== undefined) return true;
    return this.headers["transfer-encoding"] !== undefined || this.declaredLength() > PASSING_BYTES;
  }

  /** Reads no more of the body, and gives the slot back. */
  protected leave(): void {
    this.reader?.stop();
    this.slot?.free(this.kept);
    this.slot = undefined;
  }
}
