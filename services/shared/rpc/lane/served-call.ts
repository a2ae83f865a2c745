import { isMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { parseTimeout } from "@connectrpc/connect/protocol-connect";
import { binaryOf } from "../binary/write.js";
import type { Authenticated, Credential, Incoming } from "../call.js";
import { canceled, deadlineExceeded, resourceExhausted, unauthenticated, unimplemented } from "../errors.js";
import { messageFrom } from "../message-from.js";
import type { Hold } from "../socket/calls.js";
import type { CallSlot, CallSlots } from "../socket/slots.js";
import { LONGEST_TIMER_MS } from "../steps/deadline.js";
import { callError } from "./failure.js";
import type { LaneRoute } from "./routes.js";

/** What the calls of a lane share. */
export interface Lane {
  readonly slots: CallSlots;
  readonly hold: Hold | undefined;
  /** Calls that are not answered yet. */
  inFlight: number;
}

/** What a call says before its message; "" for what it does not say. */
export interface CallHead {
  readonly assertion: string;
  readonly authorization: string;
  readonly traceparent: string;
  /** Of content-encoding. */
  readonly encoding: string;
  /** Of connect-timeout-ms. */
  readonly timeout: string;
  /** Bytes that are announced; undefined where they come in chunks. */
  readonly length: number | undefined;
}

/** Where a call comes from, and is answered: a request of HTTP, or a connection that many calls share. */
export interface CallPlace {
  /** @param done is called when all of it is written. */
  answer(message: Uint8Array, done: () => void): void;
  /** @param closes the connection: more of the request may come than is worth waiting for. */
  refuse(error: ConnectError, closes: boolean, done: () => void): void;
  /** Takes no more of the message until resume(). */
  pause(): void;
  resume(): void;
}

/** Under which the gRPC port counts what our own processes call without a credential. */
const OURS = "of ";
/** A refused body that is announced to be longer than this is not waited for, in bytes. */
const DRAINED = 32 << 20;

/**
 * One unary call of the Connect protocol (connectrpc.com/docs/protocol) on a lane. It is also what its method knows of
 * it: a signal, and the timer behind it, are made when they are first asked for.
 */
export class ServedCall implements Incoming {
  readonly credential: Credential;
  readonly traceparent: string | undefined;
  admitted: Authenticated | undefined;
  deadline: number | undefined;
  readonly #route: LaneRoute;
  readonly #lane: Lane;
  readonly #place: CallPlace;
  readonly #head: CallHead;
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

  constructor(route: LaneRoute, lane: Lane, place: CallPlace, head: CallHead) {
    this.#route = route;
    this.#lane = lane;
    this.#place = place;
    this.#head = head;
    this.credential = credentialOf(head);
    this.traceparent = head.traceparent || undefined;
    lane.inFlight++;
  }

  /** Finds out who calls. It throws nothing: what is thrown out of a handler of µWebSockets.js ends the process. */
  begin(): void {
    try {
      this.#checkHead();
      const who = this.#route.admit(this);
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
  #checkHead(): void {
    const { encoding, timeout } = this.#head;
    if (encoding !== "" && encoding !== "identity") {
      throw unimplemented("the message is compressed, which the service does not support: send it uncompressed");
    }
    const { timeoutMs, error } = parseTimeout(timeout || null, Number.MAX_SAFE_INTEGER);
    if (error !== undefined) throw error;
    if (timeoutMs !== undefined) this.deadline = Date.now() + timeoutMs;
  }

  /** Until it is known who calls, no more of the message is taken than has come with its headers. */
  #wait(who: Promise<Authenticated>): void {
    this.#place.pause();
    const goOn = (enter: () => void): void => {
      if (this.#isOver) return;
      this.#place.resume();
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
    const { length } = this.#head;
    if (length !== undefined && length > limits.bytes) throw tooLong(limits.bytes);
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

  /** Takes a piece of the message, in memory of its own: a message points to bytes that it was read from. */
  take(piece: Buffer, isLast: boolean): void {
    if (this.#isOver || this.#isAnswered) return;
    const { limits } = this.#route;
    this.#bytes += piece.length;
    this.#isWhole = isLast;
    try {
      if (this.#bytes > limits.bytes) throw tooLong(limits.bytes);
      this.#slot?.grow(piece.length);
      this.#keep(piece);
      if (isLast && this.admitted !== undefined) this.#run();
    } catch (error) {
      this.#fail(error);
    }
  }

  #keep(piece: Buffer): void {
    if (this.#message === undefined) this.#message = piece;
    else if (Array.isArray(this.#message)) this.#message.push(piece);
    else this.#message = [this.#message, piece];
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
    const message = isMessage(reply) ? reply : messageFrom(output, reply as MessageInitShape<typeof output>);
    const bytes = binaryOf(output, message);
    this.#isAnswered = true;
    this.#place.answer(bytes, () => this.#finish());
  }

  #fail(error: unknown): void {
    if (this.#isOver || this.#isAnswered) return;
    this.#isAnswered = true;
    // Chunks have no end that is known.
    const { length } = this.#head;
    const closes = !this.#isWhole && (length === undefined || length > DRAINED);
    this.#place.refuse(callError(error, this.deadline), closes, () => this.#finish());
  }

  /** Its caller has gone. */
  goAway(): void {
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

function credentialOf({ assertion, authorization }: CallHead): Credential {
  if (assertion !== "") return { assertion };
  return authorization === "" ? {} : { authorization };
}

function tooLong(most: number): ConnectError {
  return resourceExhausted(`the message is longer than ${most} bytes, the limit of this rpc: send less at once`);
}
