import { createHash, randomBytes } from "node:crypto";

// The client's side of WebSocket (RFC 6455), as far as the lane has it: binary messages, each in one frame.

/** Where a lane's server takes calls that share a connection. */
export const SHARED_PATH = "/calls";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const ACCEPT = /\r\nsec-websocket-accept: *([^\r]*)/i;
const FINAL_BINARY = 0x82;
const FINAL_PONG = 0x8a;
/** In the first byte of a control frame, which is short (section 5.5). */
const CONTROL = 0x08;
const MASKED = 0x80;
const SHORT = 125;
const TWO_BYTES = 126;
const EIGHT_BYTES = 127;
const MASK = 4;

/** The opcode of a message of bytes (section 5.2). */
export const BINARY = 2;
/** The opcode of a ping, which is to be answered. */
export const PING = 9;

/** Asks a server to speak WebSocket. */
export interface Handshake {
  readonly request: Buffer;
  /** Whether the head of an answer agrees. */
  isAnsweredBy(head: string): boolean;
}

/** @param end the rest of the request's first line, and the headers that every request of the lane has. */
export function handshake(end: string): Handshake {
  const key = randomBytes(16).toString("base64");
  const accept = createHash("sha1").update(`${key}${GUID}`).digest("base64");
  const upgrade = `upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n`;
  const request = Buffer.from(`GET ${SHARED_PATH} ${end}${upgrade}\r\n`, "latin1");
  return {
    request,
    isAnsweredBy: (head) => head.startsWith("HTTP/1.1 101 ") && ACCEPT.exec(head)?.[1] === accept,
  };
}

/**
 * A message in one frame. Its mask is zero: masks keep a page's script from choosing the bytes on the wire (section 10.3),
 * and both ends are our own processes.
 */
export function binaryFrame(pieces: readonly Buffer[], bytes: number): Buffer {
  return frameOf(FINAL_BINARY, pieces, bytes);
}

/** The answer to a ping. */
export function pongFrame(payload: Buffer): Buffer {
  return frameOf(FINAL_PONG, [payload], payload.length);
}

function frameOf(first: number, pieces: readonly Buffer[], bytes: number): Buffer {
  const lengthBytes = bytes <= SHORT ? 0 : bytes <= 0xffff ? 2 : 8;
  let at = 2 + lengthBytes;
  const frame = Buffer.allocUnsafe(at + MASK + bytes);
  frame[0] = first;
  frame[1] = MASKED | (lengthBytes === 0 ? bytes : lengthBytes === 2 ? TWO_BYTES : EIGHT_BYTES);
  if (lengthBytes === 2) frame.writeUInt16BE(bytes, 2);
  else if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(bytes), 2);
  frame.fill(0, at, at + MASK);
  at += MASK;
  for (const piece of pieces) at += piece.copy(frame, at);
  return frame;
}

/** Reads the frames of a server from what comes. */
export class FrameReader {
  readonly #most: number;
  readonly #take: (opcode: number, payload: Buffer) => void;
  /** The beginning of a frame of which not even the length has come. */
  #begun: Buffer | undefined;
  #opcode = 0;
  #payload: Buffer | undefined;
  #filled = 0;

  /**
   * @param most bytes of a frame.
   * @param take is given memory of its own.
   */
  constructor(most: number, take: (opcode: number, payload: Buffer) => void) {
    this.#most = most;
    this.#take = take;
  }

  /** Takes what has come, whose memory is used again. False for what is no frame of a server, or too long. */
  push(piece: Buffer): boolean {
    let rest = piece;
    while (rest.length > 0) {
      if (this.#payload === undefined) {
        const after = this.#readHead(rest);
        if (after === undefined) return false;
        rest = after;
        if (this.#payload === undefined) continue;
      }
      const payload = this.#payload as Buffer;
      const taken = rest.copy(payload, this.#filled);
      this.#filled += taken;
      rest = rest.subarray(taken);
      if (this.#filled < payload.length) return true;
      this.#payload = undefined;
      this.#take(this.#opcode, payload);
    }
    return true;
  }

  /** The bytes after a frame's head; undefined if it is malformed. */
  #readHead(piece: Buffer): Buffer | undefined {
    const bytes = this.#begun === undefined ? piece : Buffer.concat([this.#begun, piece]);
    this.#begun = undefined;
    const [first = 0, second = 0] = bytes;
    // In pieces, with an extension, or masked, none of which a lane's server does.
    if (bytes.length >= 2 && ((first & 0xf0) !== 0x80 || (second & MASKED) !== 0)) return undefined;
    if ((first & CONTROL) !== 0 && second > SHORT) return undefined;
    const lengthBytes = second < TWO_BYTES ? 0 : second === TWO_BYTES ? 2 : 8;
    const end = 2 + lengthBytes;
    if (bytes.length < end) {
      this.#begun = Buffer.from(bytes);
      return NOTHING;
    }
    const length =
      lengthBytes === 0 ? second : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (length > this.#most) return undefined;
    this.#opcode = first & 0x0f;
    this.#filled = 0;
    if (length > 0) this.#payload = Buffer.allocUnsafe(length);
    else this.#take(this.#opcode, NOTHING);
    return bytes.subarray(end);
  }
}

const NOTHING = Buffer.alloc(0);
