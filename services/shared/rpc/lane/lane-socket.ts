import { connect, type Socket } from "node:net";
import type { HeardLane } from "./announcement.js";
import { type AnswerHead, answerHeadOf } from "./framing.js";

/** What hears of the answer to a request: of one of the two, once. */
export interface Asking {
  answered(head: AnswerHead, body: Buffer): void;
  /** The connection ended before the answer was complete. */
  lost(cause: Error | undefined): void;
}

/** What hears of a connection. */
export interface OnSocket {
  /** It takes a request: for the first time, or since it has answered the last one. */
  freed(socket: LaneSocket): void;
  closed(socket: LaneSocket): void;
}

/** Read at once, in bytes. */
const READ = 32 << 10;
const MAX_HEAD = 16 << 10;
/** The longest answer, in bytes. */
const MAX_BODY = 64 << 20;
const END_OF_HEAD = "\r\n\r\n";
/** How long it may take until the server has seen the token, in milliseconds. */
const OPEN_MS = 2_000;
const SHOWN = 204;

/** A connection of a lane: one request at a time. */
export class LaneSocket {
  /** By performance.now(): when its last answer was complete. */
  idleSince = 0;
  readonly #socket: Socket;
  readonly #on: OnSocket;
  readonly #opening: NodeJS.Timeout;
  #isOpen = false;
  #asking: Asking | undefined;
  /** What has come of a head. */
  #begun: Buffer | undefined;
  #head: AnswerHead | undefined;
  #body: Buffer = NOTHING;
  #filled = 0;

  /** @param hello the request that shows the token. */
  constructor({ token: _, ...place }: HeardLane, hello: Buffer, on: OnSocket) {
    this.#on = on;
    // One piece of memory for all that is read: what is kept of it is copied.
    const buffer = Buffer.allocUnsafeSlow(READ);
    const callback = (bytes: number): boolean => {
      this.#read(buffer.subarray(0, bytes));
      return true;
    };
    this.#socket = connect({ ...place, noDelay: true, onread: { buffer, callback } });
    this.#opening = setTimeout(() => this.close(), OPEN_MS);
    let cause: Error | undefined;
    this.#socket.on("error", (error) => {
      cause = error;
    });
    this.#socket.on("close", () => {
      clearTimeout(this.#opening);
      const asking = this.#asking;
      this.#asking = undefined;
      on.closed(this);
      asking?.lost(cause);
    });
    this.send(hello, HELLO);
  }

  /** Whether its server has not hung up. */
  get isWritable(): boolean {
    return this.#socket.writable;
  }

  send(request: Buffer, asking: Asking): void {
    this.#asking = asking;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(piece: Buffer): void {
    // An answer to no request: the server is not a lane.
    if (this.#asking === undefined) return void this.close();
    const rest = this.#head === undefined ? this.#readHead(piece) : piece;
    if (rest === undefined) return;
    if (rest.length > this.#body.length - this.#filled) return void this.close();
    this.#filled += rest.copy(this.#body, this.#filled);
    if (this.#filled === this.#body.length) this.#complete();
  }

  /** Returns the bytes after the head; undefined if the head is incomplete or malformed. */
  #readHead(piece: Buffer): Buffer | undefined {
    const bytes = this.#begun === undefined ? piece : Buffer.concat([this.#begun, piece]);
    const end = bytes.indexOf(END_OF_HEAD);
    if (end < 0) {
      if (bytes.length > MAX_HEAD) this.close();
      else this.#begun = Buffer.from(bytes);
      return undefined;
    }
    this.#begun = undefined;
    const head = answerHeadOf(bytes.toString("latin1", 0, end));
    if (head === undefined || head.length > MAX_BODY) {
      this.close();
      return undefined;
    }
    this.#head = head;
    this.#body = Buffer.allocUnsafe(head.length);
    this.#filled = 0;
    return bytes.subarray(end + END_OF_HEAD.length);
  }

  #complete(): void {
    const asking = this.#asking as Asking;
    const head = this.#head as AnswerHead;
    const body = this.#body;
    this.#asking = this.#head = undefined;
    this.#body = NOTHING;
    if (!this.#isOpen) {
      if (head.status !== SHOWN) return void this.close();
      this.#isOpen = true;
      clearTimeout(this.#opening);
    }
    this.idleSince = performance.now();
    // What the server did not read before it answered would wait in front of the next request.
    if (head.closes || this.#socket.writableLength > 0) this.close();
    else this.#on.freed(this);
    asking.answered(head, body);
  }
}

const NOTHING = Buffer.alloc(0);
const HELLO: Asking = { answered: () => undefined, lost: () => undefined };
