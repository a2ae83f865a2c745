import { STATUS_CODES } from "node:http";
import type { Slot } from "../../services/shared/limits/slots.js";
import type { Excess } from "../../services/shared/rpc/json-shape.js";
import type { Unread } from "./body-reader.js";

/** One HTTP request and the way to answer it, once. The edge makes them; nothing here knows of its server. */
export interface Exchange {
  /** As the client wrote it: GET, POST. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query without its question mark; "" for none. */
  readonly query: string;
  /** Lower-case name to value, trimmed; a name given with different values has them joined by ", ", cookies by "; ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** What makes the request one that others could read differently, as a sentence; the connection ends with its answer. */
  readonly malformed: string | undefined;
  /** The client's address as text. */
  readonly address: string;

  /** The client hung up: nothing more can be sent. */
  readonly gone: boolean;
  /** Calls the listener when the client hangs up before the answer is complete, at once where it has already. Every listener is kept. */
  onGone(listener: () => void): void;

  /**
   * Reads a body of JSON and calls `done` once: with its text, which is not
   * decoded yet where it is longer than 64 KiB, for that takes its time, or may not be UTF-8; or with why it is
   * not read on: it is longer than `limit` bytes, takes too long, holds too
   * much, or its place has no room for it. The body is read in one of the two
   * ways, to be chosen before the handler returns, and not after an answer.
   */
  readJson(limit: number, done: (text: string | Buffer | undefined, unread?: Unread | Excess) => void): void;
  /** Hands over the body piece by piece, as fast as it is asked for. */
  stream(limit: number): BodyStream;
  /** Bounds a body that is being read more narrowly: to so many bytes, and so many milliseconds from now. */
  bound(bytes: number, ms: number): void;
  /** Until letGo() no more than the beginning of the body is read: the rest waits in the client's own buffers. */
  hold(): void;
  /** Reads on. */
  letGo(): void;
  /**
   * Counts the request, and what is kept of its body, for this place until it is
   * answered or its client is gone, in stead of the place before. False where
   * what is kept already does not fit.
   */
  occupy(slot: Slot): boolean;
  /** Counts bytes that are kept for the request, as those of its body are, for its place; false where it has no room for them. */
  keep(bytes: number): boolean;

  /**
   * Counts the request among those that nobody knows and of which there are too
   * many: it is answered when there is time.
   */
  postpone(): void;
  /** It was, and its turn has not come. */
  readonly postponed: boolean;
  /** Runs what makes the answer: at once, or of a request that is postponed when there is time. */
  inTurn(run: () => void): void;

  /**
   * Answers in full. Does nothing when the client is gone or has its answer. Bytes may be changed once it returns, except
   * those for a request that is postponed.
   */
  answer(status: number, headers: HeaderList, body?: string | Uint8Array): void;

  /** Begins an answer that is written in pieces; `length` is that of the body in bytes, where it is known. */
  open(status: number, headers: HeaderList, length?: number): void;
  /** Writes a piece; false where the client reads slower than this is written: see onWritable. */
  write(piece: string | Uint8Array): boolean;
  /** Called when the client has caught up; one listener. */
  onWritable(listener: () => void): void;
  /** Ends an answer that was written in pieces. */
  end(piece?: string): void;
  /** Cuts the connection. */
  close(): void;
}

/**
 * The body of a request, to be iterated once. What was not asked for yet waits
 * in the client's own buffers.
 *
 * Iterating throws BodyUnreadError or ClientGoneError.
 */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  /** Why the body is not read to its end, once that is so. */
  readonly unread: Unread | undefined;
}

/** All of a body. @throws BodyUnreadError, ClientGoneError. */
export async function wholeOf(body: BodyStream): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The body of a request is too long or too slow, or its sender has too much in flight. */
export class BodyUnreadError extends Error {}

/** The client hung up before its request was read to the end. */
export class ClientGoneError extends Error {}

/** Names and values by turns: ["content-type", "text/plain", …]; a name may come again. */
export type HeaderList = readonly string[];

/** The status line of an answer, without the version: "200 OK". */
export function statusLine(status: number): string {
  return STATUS_LINES.get(status) ?? `${status} `;
}

const STATUS_LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([status, phrase]) => [Number(status), `${status} ${phrase}`]),
);

/** What a JSON answer carries besides its length. */
export const JSON_HEADERS: HeaderList = ["content-type", "application/json", "cache-control", "no-store"];
