import type { DescMethod } from "@bufbuild/protobuf";
import { createMethodUrl } from "@connectrpc/connect/protocol";
import { contentTypeUnaryProto, protocolVersion } from "@connectrpc/connect/protocol-connect";
import { ASSERTION_HEADER } from "../call.js";
import type { Outgoing } from "../dispatch.js";
import { type HeardLane, TOKEN_HEADER } from "./announcement.js";
import { callRecord } from "./records.js";

// Requests are written and answers read by hand: what a general client of HTTP
// does for each costs more than all the rest of a call.

/** The longest head of a request that the server reads, in bytes, with room to spare. */
const MAX_HEAD = 15 << 10;
/** What a value of a header may hold (RFC 9110 section 5.5), of ASCII. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;
/** Longer values, which are assertions, are remembered: to look through one takes longer than to write the request. */
const SHORT_VALUE = 100;
const MOST_VALUES = 256;

/** What a request says of its call in headers. */
export type Said = Pick<Outgoing, "credential" | "traceparent">;

/** Writes the requests of one lane. */
export class Requests {
  /** The end of the first line, and what every request has. */
  readonly end: string;
  /** Beginnings of heads, by method. */
  readonly #begun = new Map<DescMethod, string>();
  readonly #paths = new Map<DescMethod, string>();
  /** Long values of headers that can be written. */
  readonly #writable = new Set<string>();
  /** The request by which a connection shows that it has the token. */
  readonly hello: Buffer;

  constructor(lane: HeardLane) {
    this.end = `HTTP/1.1\r\nhost: ${hostOf(lane)}\r\n${TOKEN_HEADER}: ${lane.token}\r\n`;
    this.hello = Buffer.from(`GET / ${this.end}\r\n`, "latin1");
  }

  /**
   * A call's request; undefined if a header of it cannot be written here: the gRPC port says what is wrong with it.
   *
   * @param timeoutMs how long the call may take, from now.
   */
  of(method: DescMethod, said: Said, timeoutMs: number | undefined, message: Uint8Array): Buffer | undefined {
    let head = this.#begun.get(method);
    if (head === undefined) {
      const type = `content-type: ${contentTypeUnaryProto}\r\nconnect-protocol-version: ${protocolVersion}\r\n`;
      head = `POST ${createMethodUrl("/", method)} ${this.end}${type}`;
      this.#begun.set(method, head);
    }
    const { assertion = "", authorization = "" } = said.credential;
    for (const [name, value] of [
      [ASSERTION_HEADER, assertion],
      ["authorization", authorization],
      ["traceparent", said.traceparent ?? ""],
    ] as const) {
      if (!this.#isWritable(value)) return undefined;
      if (value !== "") head += `${name}: ${value}\r\n`;
    }
    if (timeoutMs !== undefined) head += `connect-timeout-ms: ${Math.ceil(timeoutMs)}\r\n`;
    head += `content-length: ${message.length}\r\n\r\n`;
    if (head.length > MAX_HEAD) return undefined;
    const request = Buffer.allocUnsafe(head.length + message.length);
    request.write(head, 0, "latin1");
    request.set(message, head.length);
    return request;
  }

  /** The same for a connection that many calls share: its record, without an id. */
  sharedOf(
    method: DescMethod,
    { credential, traceparent = "" }: Said,
    timeoutMs: number | undefined,
    message: Uint8Array,
  ): Buffer | undefined {
    const { assertion = "", authorization = "" } = credential;
    if (!this.#isWritable(assertion) || !this.#isWritable(authorization) || !this.#isWritable(traceparent))
      return undefined;
    const timeout = timeoutMs === undefined ? "" : String(Math.ceil(timeoutMs));
    return callRecord({ path: this.#pathOf(method), assertion, authorization, traceparent, timeout }, message);
  }

  #pathOf(method: DescMethod): string {
    let path = this.#paths.get(method);
    if (path === undefined) {
      path = createMethodUrl("/", method);
      this.#paths.set(method, path);
    }
    return path;
  }

  #isWritable(value: string): boolean {
    if (this.#writable.has(value)) return true;
    if (!FIELD_VALUE.test(value)) return false;
    if (value.length <= SHORT_VALUE) return true;
    if (this.#writable.size >= MOST_VALUES) this.#writable.clear();
    this.#writable.add(value);
    return true;
  }
}

function hostOf(lane: HeardLane): string {
  if ("path" in lane) return "localhost";
  return `${lane.host.includes(":") ? `[${lane.host}]` : lane.host}:${lane.port}`;
}

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** Bytes of its body. */
  readonly length: number;
  /** Its body is a message. */
  readonly isMessage: boolean;
  /** The connection ends with it. */
  readonly closes: boolean;
  /** All of it, without the empty line. */
  readonly text: string;
}

const OF_SHARED: AnswerHead = { status: 200, length: 0, isMessage: true, closes: false, text: "" };

/** The head of an answer that came on a shared connection (records.ts). @param lines its headers. */
export function headOfStatus(status: number, lines: string): AnswerHead {
  return status === OK ? OF_SHARED : { ...OF_SHARED, status, isMessage: false, text: `${status}\r\n${lines}` };
}

/** What the server of a lane writes before a message, which is nearly all that is read here. */
const OF_MESSAGE = new RegExp(
  `^HTTP/1\\.1 200 OK\\r\\ncontent-type: ${contentTypeUnaryProto}\\r\\nDate: [^\\r]{29}\\r\\nuWebSockets: \\d+\\r\\nContent-Length: (\\d{1,10})$`,
);
const OK = 200;
const STATUS = /^HTTP\/1\.1 (\d{3}) /;
const LENGTH = /\r\ncontent-length: *(\d{1,10})(?=\r|$)/i;
const MESSAGE = new RegExp(`\\r\\ncontent-type: *${contentTypeUnaryProto}(?=\\r|$)`, "i");
const CLOSE = /\r\nconnection: *close(?=\r|$)/i;
const CODED = /\r\ntransfer-encoding:/i;

/** Reads the head of an answer; undefined if it is not one that a lane gives. */
export function answerHeadOf(text: string): AnswerHead | undefined {
  const bytes = OF_MESSAGE.exec(text)?.[1];
  if (bytes !== undefined) return { status: 200, length: Number(bytes), isMessage: true, closes: false, text };
  const status = Number(STATUS.exec(text)?.[1]);
  const length = LENGTH.exec(text)?.[1];
  if (!(status >= 200) || CODED.test(text) || (length === undefined && status !== 204)) return undefined;
  return { status, length: Number(length ?? 0), isMessage: MESSAGE.test(text), closes: CLOSE.test(text), text };
}

/** The headers of an answer. */
export function headersOf({ text }: AnswerHead): Headers {
  const headers = new Headers();
  for (const line of text.split("\r\n").slice(1)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
