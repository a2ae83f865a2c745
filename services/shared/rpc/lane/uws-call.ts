import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { create, isMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { parseTimeout } from "@connectrpc/connect/protocol-connect";
import { binaryOf } from "../binary/write.js";
import type { Authenticated, Credential, Incoming } from "../call.js";
import { canceled, deadlineExceeded, resourceExhausted, unauthenticated, unimplemented } from "../errors.js";
import { ASSERTION_HEADER } from "../remote.js";
import type { Hold } from "../socket/calls.js";
import type { CallSlot, CallSlots } from "../socket/slots.js";
import { LONGEST_TIMER_MS } from "../steps/deadline.js";
import type { LaneRoute } from "./routes.js";
import { answer, answerError, callError } from "./uws-answer.js";

/** What the calls of a lane share. */
export interface Lane {
  readonly slots: CallSlots;
  readonly hold: Hold | undefined;
  /** Calls that are not answered yet. */
  inFlight: number;
}

/** Under which the gRPC port counts what our own processes call without a credential. */
const OURS = "of ";
/** A refused body that is announced to be longer than this is not waited for, in bytes. */
const DRAINED = 32 << 20;

/**
 * One unary call of the Connect protocol (connectrpc.com/docs/protocol) over µWebSockets.js. It is also what its
 * method knows of it: a signal, and the timer behind it, are made when they are first asked for.
 */
export class ServedCall implements Incoming {
  readonly credential: Credential;
  readonly traceparent: string | undefined;
  admitted: Authenticated | undefined;
  deadline: number | undefined;
  readonly #route: LaneRoute;
  readonly #lane: Lane;
  readonly #response: HttpResponse;
  /** Bytes that are announced; undefined where they come in chunks. */
  readonly #length: number | undefined;
  #slot: CallSlot | undefined;
  #release: (() => void) | undefined;
  /** What has come of the message; a list where it comes in pieces. */
  #message: Buffer | Buffer[] | undefined;
  #bytes = 0;
  #isWhole = false;
  /** The credential is no longer good: the call does not begin. */
  #hasEnded = false;
  #isAnswered = false;
  #isOver = false;
  #isGone = false;
  #left: AbortController | undefined;
  #late: NodeJS.Timeout | undefined;

  // The request is gone once this returns: all that is needed of it is taken here.
  constructor(route: LaneRoute, lane: Lane, response: HttpResponse, request: HttpRequest) {
    this.#route = route;
    this.#lane = lane;
    this.#response = response;
    lane.inFlight++;
    response.onAborted(() => this.#goAway());
    response.onData((piece, isLast) => this.#take(piece, isLast));
    const assertion = request.getHeader(ASSERTION_HEADER);
    this.credential = assertion === "" ? credentialOf(request.getHeader("authorization")) : { assertion };
    this.traceparent = request.getHeader("traceparent") || undefined;
    const length = request.getHeader("content-length");
    this.#length = length === "" ? undefined : Number(length);
    // What is thrown out of a handler of µWebSockets.js ends the process.
    try {
      this.#checkHead(request);
      const who = route.admit(this);
      if (who instanceof Promise) this.#wait(who);
      else this.#enter(who);
    } catch (error) {
      this.#fail(error);
    }
  }

  get signal(): AbortSignal {
    this.#left ??= this.#watch();
    return this.#left.signal;
  }

  #watch(): AbortController {
    const left = new AbortController();
    if (this.#isGone) left.abort(WENT_AWAY);
    const { deadline } = this;
    if (deadline === undefined) return left;
    const late = (): void => left.abort(deadlineExceeded("the deadline passed"));
    const ms = deadline - Date.now();
    if (ms <= 0) late();
    else if (!this.#isOver && ms <= LONGEST_TIMER_MS) this.#late = setTimeout(late, ms);
    return left;
  }

  /** @throws ConnectError unimplemented, invalid_argument. */
  #checkHead(request: HttpRequest): void {
    const encoding = request.getHeader("content-encoding");
    if (encoding !== "" && encoding !== "identity") {
      throw unimplemented("the message is compressed, which the service does not support: send it uncompressed");
    }
    const { timeoutMs, error } = parseTimeout(request.getHeader("connect-timeout-ms") || null, Number.MAX_SAFE_INTEGER);
    if (error !== undefined) throw error;
    if (timeoutMs !== undefined) this.deadline = Date.now() + timeoutMs;
  }

  /** Until it is known who calls, no more of the message is taken than has come with its headers. */
  #wait(who: Promise<Authenticated>): void {
    this.#response.pause();
    const goOn = (enter: () => void): void => {
      if (this.#isOver) return;
      this.#response.resume();
      try {
        enter();
      } catch (error) {
        this.#fail(error);
      }
    };
    who.then(
      (one) => goOn(() => this.#enter(one)),
      (error: unknown) => goOn(() => this.#fail(error)),
    );
  }

  /** @throws ConnectError resource_exhausted. */
  #enter(who: Authenticated): void {
    const { slots, hold } = this.#lane;
    const { limits, isPublic } = this.#route;
    if (this.#length !== undefined && this.#length > limits.bytes) throw tooLong(limits.bytes);
    this.#slot = slots.take(who.caller, OURS);
    this.#slot.grow(this.#bytes);
    this.admitted = who;
    if (!isPublic) {
      this.#release = hold?.(who.caller, () => {
        this.#hasEnded = true;
      });
    }
    if (this.#isWhole) this.#run();
  }

  #take(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#isOver || this.#isAnswered) return;
    const { limits } = this.#route;
    this.#bytes += piece.byteLength;
    this.#isWhole = isLast;
    try {
      if (this.#bytes > limits.bytes) throw tooLong(limits.bytes);
      this.#slot?.grow(piece.byteLength);
      this.#keep(piece);
      if (isLast && this.admitted !== undefined) this.#run();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Copies it: it is the socket's own memory, and a message points to bytes that it was read from. */
  #keep(piece: ArrayBuffer): void {
    const bytes = Buffer.from(new Uint8Array(piece));
    if (this.#message === undefined) this.#message = bytes;
    else if (Array.isArray(this.#message)) this.#message.push(bytes);
    else this.#message = [this.#message, bytes];
  }

  /** @throws what the message or the method does. */
  #run(): void {
    this.#slot?.handOn();
    const message = this.#message ?? NOTHING;
    this.#message = undefined;
    if (this.#hasEnded) throw NO_LONGER_GOOD;
    const request = this.#route.read(Array.isArray(message) ? Buffer.concat(message) : message);
    const reply = this.#route.run(request, this);
    if (!isPromise(reply)) return void this.#reply(reply);
    reply.then((one) => this.#reply(one)).catch((error: unknown) => this.#fail(error));
  }

  /** @throws Error where a reply cannot be encoded. */
  #reply(reply: unknown): void {
    if (this.#isOver) return;
    const { output } = this.#route.method.desc;
    const message = isMessage(reply) ? reply : create(output, reply as MessageInitShape<typeof output>);
    const bytes = binaryOf(output, message);
    this.#isAnswered = true;
    answer(this.#response, bytes, () => this.#finish());
  }

  #fail(error: unknown): void {
    if (this.#isOver || this.#isAnswered) return;
    this.#isAnswered = true;
    // Chunks have no end that is known.
    const closes = !this.#isWhole && (this.#length === undefined || this.#length > DRAINED);
    answerError(this.#response, callError(error, this.deadline), closes, () => this.#finish());
  }

  #goAway(): void {
    this.#isGone = true;
    this.#left?.abort(WENT_AWAY);
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lane.inFlight--;
    clearTimeout(this.#late);
    this.#release?.();
    this.#slot?.free();
  }
}

const NOTHING = Buffer.alloc(0);
const WENT_AWAY = canceled("the client went away");
const NO_LONGER_GOOD = unauthenticated(
  "the credential of this call is no longer valid, or cannot be checked: call again with a valid one",
);

function isPromise(reply: unknown): reply is Promise<unknown> {
  return typeof (reply as Promise<unknown> | undefined)?.then === "function";
}

function credentialOf(authorization: string): Credential {
  return authorization === "" ? {} : { authorization };
}

function tooLong(most: number): ConnectError {
  return resourceExhausted(`the message is longer than ${most} bytes, the limit of this rpc: send less at once`);
}
