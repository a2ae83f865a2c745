import type { WebSocket, WebSocketBehavior } from "uWebSockets.js";
import type { ConnectError } from "@connectrpc/connect";
import { contentTypeUnaryJson, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { unimplemented } from "../errors.js";
import { failureOf } from "./failure.js";
import { InFlight } from "./in-flight.js";
import { Outbox } from "./outbox.js";
import { answerRecord, type CallRecord, type CallRecordHead, readCalls } from "./records.js";
import type { LaneRoute } from "./routes.js";
import { type CallPlace, type Lane, ServedCall } from "./served-call.js";

/** The longest frame, in bytes. A client writes no more than a mebibyte at once (outbox.ts). */
const MAX_FRAME = 16 << 20;
/** After these seconds of silence the server sends a ping, and it closes a connection that does not answer; 8 is the least that µWebSockets.js takes. */
const IDLE_S = 8;
/** The most calls of a connection that run at once: its client makes no more (shared-socket.ts). */
const MOST_CALLS = 128;
/** The most that its client has not read, in bytes: two of the longest answers. */
const MAX_UNREAD = 128 << 20;
/** What µWebSockets.js says of a message that it did not take, because more than that is unread: the caller of that answer would wait in vain. */
const DROPPED = 2;
const OK = 200;
/** Misdirected Request (RFC 9110 section 15.5.20): the lane begins nothing any more. */
const MISDIRECTED = 421;
const NOT_FOUND = 404;

/** What is kept of a connection. */
interface Kept {
  shared?: SharedCalls;
}

/** What connections that calls share have to do with their server. */
export interface SharedOptions {
  /** The lane begins no more calls. */
  readonly isClosing: () => boolean;
  /** One has closed: of those that became WebSockets, the filter of µWebSockets.js does not say so. */
  readonly closed: () => void;
}

/** How the lane's server treats connections that many calls share. They have shown the token when they are here. */
export function sharing(
  routes: readonly LaneRoute[],
  lane: Lane,
  { isClosing, closed }: SharedOptions,
): Omit<WebSocketBehavior<Kept>, "upgrade"> {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return {
    maxPayloadLength: MAX_FRAME,
    idleTimeout: IDLE_S,
    sendPingsAutomatically: true,
    maxBackpressure: MAX_UNREAD,
    open(socket) {
      socket.getUserData().shared = new SharedCalls(socket, byPath, lane, isClosing);
    },
    message(socket, message) {
      // It is the socket's own memory.
      socket.getUserData().shared?.take(Buffer.from(new Uint8Array(message)));
    },
    close(socket) {
      socket.getUserData().shared?.goAway();
      closed();
    },
  };
}

/** The calls of one connection. */
class SharedCalls {
  readonly #socket: WebSocket<Kept>;
  readonly #routes: ReadonlyMap<string, LaneRoute>;
  readonly #lane: Lane;
  readonly #isClosing: () => boolean;
  readonly #running = new InFlight<ServedCall>(MOST_CALLS);
  readonly #outbox: Outbox;
  #isGone = false;
  /** More calls may come in the same frame. */
  #isReading = false;

  constructor(socket: WebSocket<Kept>, routes: ReadonlyMap<string, LaneRoute>, lane: Lane, isClosing: () => boolean) {
    this.#socket = socket;
    this.#routes = routes;
    this.#lane = lane;
    this.#isClosing = isClosing;
    this.#outbox = new Outbox((all, bytes) => {
      if (this.#isGone) return;
      const sent = socket.send(all.length === 1 ? (all[0] as Buffer) : Buffer.concat(all, bytes), true);
      if (sent === DROPPED) this.#hangUp();
    });
  }

  /** Takes a frame. */
  take(frame: Buffer): void {
    this.#isReading = true;
    const isRead = readCalls(frame, (call) => this.#begin(call));
    this.#isReading = false;
    if (isRead) this.#flush();
    else this.#hangUp();
  }

  /** What is closed twice ends the process. */
  #hangUp(): void {
    if (!this.#isGone) this.#socket.close();
  }

  /** The client has gone, and with it all its calls. */
  goAway(): void {
    this.#isGone = true;
    for (const call of this.#running.takeAll()) call.goAway();
  }

  #begin({ id, head, body }: CallRecord): void {
    const route = head && this.#routes.get(head.path);
    // An earlier call of the frame may have ended the connection.
    if (this.#isGone) return;
    if (head === undefined) this.#takeBack(id);
    else if (this.#isClosing()) this.say(id, MISDIRECTED, "", NOTHING);
    else if (route === undefined) this.say(id, NOT_FOUND, NO_SUCH_RPC_HEAD, NO_SUCH_RPC);
    else this.#serve(id, route, head, body);
  }

  #takeBack(id: number): void {
    this.#running.take(id)?.goAway();
  }

  #serve(id: number, route: LaneRoute, head: CallRecordHead, body: Buffer): void {
    // No client of ours does so: of two calls with one id, the first would never hear that its caller has gone.
    if (this.#running.isFull || this.#running.has(id)) {
      this.#hangUp();
      return;
    }
    const { assertion, authorization, traceparent, timeout } = head;
    const said = { assertion, authorization, traceparent, timeout, encoding: "", length: body.length };
    const call = new ServedCall(route, this.#lane, new SharedPlace(this, id), said);
    this.#running.add(id, call);
    call.begin();
    call.take(body, true);
  }

  /** Answers a call. */
  say(id: number, status: number, head: string, body: Uint8Array): void {
    this.#running.take(id);
    this.#outbox.add(answerRecord({ id, status, head, body }));
    if (!this.#isReading) this.#flush();
  }

  /** If all calls that have come are answered, there is no other answer to wait for. */
  #flush(): void {
    if (this.#running.size === 0) this.#outbox.flush();
    else this.#outbox.flushSoon();
  }
}

/** A call among others on a connection. */
class SharedPlace implements CallPlace {
  readonly #shared: SharedCalls;
  readonly #id: number;

  constructor(shared: SharedCalls, id: number) {
    this.#shared = shared;
    this.#id = id;
  }

  answer(message: Uint8Array, done: () => void): void {
    this.#shared.say(this.#id, OK, "", message);
    done();
  }

  refuse(error: ConnectError, _closes: boolean, done: () => void): void {
    const { status, headers, body } = failureOf(error);
    this.#shared.say(this.#id, status, linesOf(headers), body);
    done();
  }

  /** All of its message is here. */
  pause(): void {}
  resume(): void {}
}

function linesOf(headers: readonly (readonly [string, string])[]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join("\r\n");
}

const NOTHING = new Uint8Array(0);
const NO_SUCH_RPC = errorToJsonBytes(unimplemented("the lane has no such rpc"), undefined);
const NO_SUCH_RPC_HEAD = linesOf([["content-type", contentTypeUnaryJson]]);
