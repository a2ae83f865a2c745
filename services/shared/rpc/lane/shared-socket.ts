import { connect, type Socket } from "node:net";
import type { HeardLane } from "./announcement.js";
import { headOfStatus } from "./framing.js";
import { InFlight } from "./in-flight.js";
import type { Asking } from "./lane-socket.js";
import { Outbox } from "./outbox.js";
import { giveId, goneRecord, readAnswers } from "./records.js";
import { BINARY, binaryFrame, FrameReader, type Handshake, PING, pongFrame } from "./websocket.js";

/** What hears of a shared connection. */
export interface OnShared {
  opened(): void;
  /** @param isSilent its server says nothing any more, on any connection. */
  closed(isSilent: boolean): void;
}

/** Read at once, in bytes. */
const READ = 64 << 10;
/** The longest frame, in bytes: one answer of 64 MiB. */
const MAX_FRAME = 65 << 20;
const MAX_HEAD = 16 << 10;
const END_OF_HEAD = "\r\n\r\n";
/** How long it may take until the server has agreed, in milliseconds. */
const OPEN_MS = 2_000;
/** A server that has said nothing in this number of looks, one a second, has gone: it would have sent a ping (uws-shared.ts). */
const MOST_SILENT = 15;
/**
 * Nothing is sent if nothing has come for so long, in milliseconds: after a long turn of the event loop, the server may
 * have given the connection up.
 */
const FRESH_MS = 7_000;
/** The most calls that it has at once. */
const MOST_CALLS = 128;
/** If this many bytes wait to be read by the server, no call is added. Those of calls that were taken back wait, too. */
const MOST_UNREAD = 8 << 20;

/** A connection of a lane that many calls share: what is sent in one turn of the event loop is one write. */
export class SharedSocket {
  /** By performance.now(): when something came last, and when an answer did. */
  #heardAt = performance.now();
  #answeredAt = this.#heardAt;
  #hasHeard = true;
  #silentLooks = 0;
  readonly #socket: Socket;
  readonly #handshake: Handshake;
  readonly #on: OnShared;
  readonly #opening: NodeJS.Timeout;
  readonly #asking = new InFlight<Asking>(MOST_CALLS);
  readonly #outbox: Outbox;
  readonly #frames: FrameReader;
  #lastId = 0;
  #isOpen = false;
  #isLeft = false;
  /** What has come of the head by which the server agrees. */
  #begun = "";

  constructor({ token: _, ...place }: HeardLane, handshake: Handshake, on: OnShared) {
    this.#handshake = handshake;
    this.#on = on;
    const buffer = Buffer.allocUnsafeSlow(READ);
    const callback = (bytes: number): boolean => {
      this.#heardAt = performance.now();
      this.#hasHeard = true;
      this.#read(buffer.subarray(0, bytes));
      return true;
    };
    const socket = connect({ ...place, noDelay: true, onread: { buffer, callback } });
    this.#socket = socket;
    this.#outbox = new Outbox((all, bytes) => void socket.write(binaryFrame(all, bytes)));
    this.#frames = new FrameReader(MAX_FRAME, (opcode, payload) => this.#take(opcode, payload));
    this.#opening = setTimeout(() => this.close(), OPEN_MS);
    let cause: Error | undefined;
    socket.on("error", (error) => {
      cause = error;
    });
    socket.on("close", () => {
      clearTimeout(this.#opening);
      this.#isOpen = false;
      const lost = this.#asking.takeAll();
      on.closed(this.#silentLooks >= MOST_SILENT);
      for (const asking of lost) asking.lost(cause);
    });
    socket.write(handshake.request);
  }

  /** Whether it takes a call. */
  get hasRoom(): boolean {
    if (!this.#isOpen || this.#asking.isFull || !this.#socket.writable) return false;
    return this.#socket.writableLength < MOST_UNREAD && performance.now() - this.#heardAt < FRESH_MS;
  }

  /**
   * Looks, once a second, whether it is needed and its server is there. A turn of the event loop that took long is one look.
   *
   * @param old by performance.now(): without a call, and without an answer since then, it closes.
   */
  look(old: number): void {
    this.#silentLooks = this.#hasHeard ? 0 : this.#silentLooks + 1;
    this.#hasHeard = false;
    const isIdle = this.#isOpen && this.#asking.size === 0 && this.#answeredAt < old;
    if (isIdle || this.#silentLooks >= MOST_SILENT) this.close();
  }

  /**
   * Sends a call.
   *
   * @param call its record, without an id.
   * @returns the id.
   */
  send(call: Buffer, asking: Asking): number {
    const id = this.#nextId();
    giveId(call, id);
    this.#asking.add(id, asking);
    this.#outbox.add(call);
    // As by Nagle's algorithm (RFC 896): a call waits for others only if an answer is awaited already.
    if (this.#asking.size === 1) this.#outbox.flush();
    else this.#outbox.flushSoon();
    return id;
  }

  /** Tells the server that nobody waits for the answer to a call any more. */
  takeBack(id: number): void {
    if (this.#asking.take(id) === undefined) return;
    if (this.#isLeft && this.#asking.size === 0) {
      this.close();
    } else {
      this.#outbox.add(goneRecord(id));
      this.#outbox.flushSoon();
    }
  }

  /** Closes when the calls that it has are answered. */
  leave(): void {
    this.#isLeft = true;
    if (this.#asking.size === 0) this.close();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** One that no call has which runs still. */
  #nextId(): number {
    do this.#lastId = (this.#lastId + 1) >>> 0;
    while (this.#asking.has(this.#lastId));
    return this.#lastId;
  }

  #read(piece: Buffer): void {
    const rest = this.#isOpen ? piece : this.#open(piece);
    if (rest !== undefined && !this.#frames.push(rest)) this.close();
  }

  /** The bytes after the head by which the server agrees; undefined if it is incomplete, or says something else. */
  #open(piece: Buffer): Buffer | undefined {
    this.#begun += piece.toString("latin1");
    const end = this.#begun.indexOf(END_OF_HEAD);
    if (end < 0) {
      if (this.#begun.length > MAX_HEAD) this.close();
      return undefined;
    }
    if (!this.#handshake.isAnsweredBy(this.#begun.slice(0, end))) {
      this.close();
      return undefined;
    }
    const after = this.#begun.length - end - END_OF_HEAD.length;
    this.#begun = "";
    this.#isOpen = true;
    clearTimeout(this.#opening);
    this.#on.opened();
    return piece.subarray(piece.length - after);
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === PING) return void this.#pong(payload);
    // What is left of what it may send says that it closes.
    if (opcode !== BINARY) return void this.close();
    this.#answeredAt = this.#heardAt;
    const isRead = readAnswers(payload, ({ id, status, head, body }) => {
      // None if it was taken back meanwhile.
      this.#asking.take(id)?.answered(headOfStatus(status, head), body);
    });
    if (!isRead || (this.#isLeft && this.#asking.size === 0)) this.close();
  }

  /** What waits already says as much, once it is read: who pings and reads nothing would fill the memory. */
  #pong(payload: Buffer): void {
    if (!this.#socket.writableNeedDrain) this.#socket.write(pongFrame(payload));
  }
}
