import { GrowingBytes } from "../../services/shared/growing-bytes.js";
import { type Excess, JsonShape, LOOKED_AT } from "../../services/shared/rpc/json-shape.js";

/** Why a body was not read to its end: its bytes, its time, or the memory that is left for its sender. */
export type Unread = "too long" | "too slow" | "no room";

/** Receives a whole body, or why it could not be read; the bytes are good until it returns, unless they are the reader's own. */
export type BodyDone = (bytes: Buffer | undefined, unread?: Unread | Excess) => void;

/** How long a body may take from its first piece on, in milliseconds. */
export const BODY_MS = 30_000;
/** So much of a body is read before anybody asks for more, in bytes: with less, a client that hangs up would not be noticed. */
export const WINDOW = 64 << 10;
/** So many bytes of a body are nobody's business: what places hold of them is bounded by the places. */
const FREE_BYTES = 64 << 10;

/** Puts a body of JSON together from the pieces that come, to the bounds of length, time and memory. */
export class BodyReader {
  /** Why it was given up while more of it may come. */
  unread: Unread | Excess | undefined;
  size = 0;
  /** The bytes of the body are put together by the reader, in memory that nobody uses again. */
  isOwn = false;
  private earlier: GrowingBytes | undefined;
  private clock: NodeJS.Timeout | undefined;
  private over = false;
  private shape: JsonShape | undefined;

  /** @param keeper takes bytes of memory; false where they are not to be had. */
  constructor(
    private limit: number,
    private readonly bodyMs: number,
    private readonly keeper: { keep(bytes: number): boolean },
    private readonly done: BodyDone,
  ) {}

  /** Takes a piece, whose memory is reused afterwards; `last` with the body's end. */
  push(piece: ArrayBuffer, last: boolean) {
    if (this.over) return;
    const { byteLength } = piece;
    this.size += byteLength;
    if (this.size > this.limit) return this.fail("too long");
    if (this.size > FREE_BYTES && !this.keeper.keep(this.size - byteLength > FREE_BYTES ? byteLength : this.size)) {
      return this.fail("no room");
    }
    if (!last || this.size >= LOOKED_AT) {
      this.shape ??= new JsonShape();
      const excess = this.shape.push(new Uint8Array(piece));
      if (excess !== undefined) return this.fail(excess);
    }
    if (last && this.earlier === undefined) return this.finish(Buffer.from(piece));
    this.earlier ??= new GrowingBytes();
    this.earlier.add(new Uint8Array(piece));
    if (last) {
      this.isOwn = true;
      this.finish(Buffer.from(this.earlier.whole().buffer));
    } else this.start(this.bodyMs);
  }

  /** Starts the clock of a body that is waited for, where it does not run yet. */
  start(ms: number): void {
    if (this.over || this.clock !== undefined) return;
    this.clock = setTimeout(() => this.fail("too slow"), ms);
  }

  /** Stops the clock while it is us who do not read. */
  halt(): void {
    clearTimeout(this.clock);
    this.clock = undefined;
  }

  /** From now on at most so many bytes, within `ms`. */
  bound(bytes: number, ms: number) {
    if (this.over) return;
    if (this.size > bytes) return this.fail("too long");
    this.limit = bytes;
    this.halt();
    this.start(ms);
  }

  /** Nobody waits for the body any more. */
  stop(): void {
    this.over = true;
    this.earlier = undefined;
    if (this.clock !== undefined) clearTimeout(this.clock);
  }

  private finish(bytes: Buffer): void {
    this.stop();
    this.done(bytes);
  }

  private fail(unread: Unread | Excess): void {
    this.stop();
    this.unread = unread;
    this.done(undefined, unread);
  }
}
