import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { HolderQueueLimits, HolderQueues } from "../../limits/holder-queues.js";
import { checkBegun } from "../bounded.js";
import type { Authenticated, Authenticator, Caller, Incoming } from "../call.js";
import { canceled, invalidArgument, resourceExhausted, unauthenticated, unimplemented } from "../errors.js";
import { announce, type OwnLane } from "../lane/announcement.js";
import { LONGEST_TIMER_MS } from "../steps/deadline.js";
import { abandon, answer, discard, type NodeResponse } from "./answer.js";
import { checkAnnounced, liveBody, type NodeRequest, wholeBody } from "./body.js";
import type { Connection } from "./connection.js";
import type { Connections } from "./connections.js";
import { credentialOf, headerOf, traceparentOf } from "./headers.js";
import { isOurs } from "./ours.js";
import { refusalOf } from "./refusal.js";
import { CALL, type Route } from "./routes.js";
import type { CallSlot, CallSlots } from "./slots.js";
import type { UnreadAnswers, Waiting } from "./unread.js";

/** Has a call ended when the credential of its caller is no longer good; returns the release. */
export type Hold = (caller: Caller, kill: () => void) => () => void;

/** What calls are served with. */
export interface CallsOptions {
  readonly routes: ReadonlyMap<string, Route>;
  readonly connections: Connections;
  readonly slots: CallSlots;
  /** In which calls wait to begin, by caller. */
  readonly queues: HolderQueues;
  readonly unread: UnreadAnswers;
  /** Left out where nothing is kept under a lease. */
  readonly hold?: Hold | undefined;
  /** Announced to our own processes. */
  readonly lane?: OwnLane | undefined;
}

/** Serves one call of a connection. */
export type ServeCall = (request: NodeRequest, response: NodeResponse, connection: Connection) => void;

/** How many calls of a port begin in a turn of the event loop, and how many of a caller's wait: as many as it may have open. */
export const CALL_QUEUES: HolderQueueLimits = {
  atOnce: 8,
  unwatched: 4,
  sliceMs: 1,
  perTurn: 8,
  delayMs: 25,
  waiting: 512,
};

/** How long a client of a stream both ways may be silent, in milliseconds. */
const SILENT_MS = 120_000;
const OK = 200;
/** A credential is presented again no sooner than this, in milliseconds. */
const SHORTEST_MS = 1_000;

/**
 * Serves calls in this order: the queue; who is it, by the headers alone; a slot; the
 * body, bounded; the message; the method. Who is refused is answered in the call's
 * protocol, and nothing of the body is read for it.
 */
export function createCalls(options: CallsOptions): ServeCall {
  return (request, response, connection) => new ServedCall(options, request, response, connection).run();
}

class ServedCall {
  readonly #options: CallsOptions;
  readonly #request: NodeRequest;
  readonly #response: NodeResponse;
  readonly #connection: Connection;
  readonly #left = new AbortController();
  readonly #ended = new AbortController();
  #slot: CallSlot | undefined;
  #release: (() => void) | undefined;
  #expiry: NodeJS.Timeout | undefined;

  constructor(options: CallsOptions, request: NodeRequest, response: NodeResponse, connection: Connection) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
    connection.calls++;
    response.once("close", () => this.#close());
  }

  /** What is known at once is refused at once: of a flood the rest of what was read is not looked at then. */
  run(): void {
    const refuse = (error: unknown): void => this.#refuse(ConnectError.from(error));
    try {
      const route = this.#route();
      const who = this.#admit(route);
      if (who instanceof Promise) who.then((one) => this.#serve(route, one)).catch(refuse);
      else this.#serve(route, who).catch(refuse);
    } catch (error) {
      refuse(error);
    }
  }

  async #serve(route: Route, who: Authenticated): Promise<void> {
    if (this.#left.signal.aborted) return;
    this.#enter(route, who);
    const reply = await route.serve(this.#universal(route, who));
    this.#announceLane(reply, who);
    // A stream both ways is answered while it is read.
    if (route.takesOne) discard(this.#request, this.#response);
    answer(this.#response, reply, this.#unread(who));
  }

  /** Our own processes carry everybody's answers: they are not bounded as one caller. */
  #unread({ caller }: Authenticated): Waiting | undefined {
    if (this.#connection.caller === "") return undefined;
    const name = caller.keyId || caller.account?.id || caller.id || this.#connection.address;
    return this.#options.unread.add(name, () => {
      abandon(this.#response);
      this.#options.connections.exhausted(this.#connection);
    });
  }

  /** @throws ConnectError unimplemented, invalid_argument. */
  #route(): Route {
    const { url = "", rawHeaders } = this.#request;
    const route = this.#options.routes.get(url.split("?", 1)[0] as string);
    if (route === undefined) throw unimplemented("this server has no such rpc: server reflection lists its rpcs");
    // Node takes the first of several, and others the last (RFC 9112 section 3.2).
    if (rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length > 1) {
      throw invalidArgument("the request has more than one Host header");
    }
    return route;
  }

  #admit({ isPublic, admit }: Route): Authenticated | Promise<Authenticated> {
    if (isPublic && !this.#options.connections.allows(this.#connection)) {
      throw resourceExhausted(
        "too many calls without a valid credential come from this address: try again in a second",
      );
    }
    const credential = credentialOf(this.#request);
    const incoming: Incoming = { credential, signal: this.#left.signal, traceparent: traceparentOf(this.#request) };
    const verify = (): Authenticated | Promise<Authenticated> => admit(incoming);
    return isPublic || this.#connection.caller !== undefined ? this.#inTurn(verify) : this.#verify(verify);
  }

  /** A known caller's calls, and public ones, are looked at in their turn; our own processes call for everybody and wait for nobody. */
  #inTurn(admit: () => Authenticated | Promise<Authenticated>): Authenticated | Promise<Authenticated> {
    const { queues, connections } = this.#options;
    const { caller, address } = this.#connection;
    if (caller === "") return admit();
    const name = caller ?? address;
    if (queues.admits(name)) return admit();
    if (queues.isLong(name)) connections.exhausted(this.#connection);
    return queues.turn(name).then(() => {
      this.#left.signal.throwIfAborted();
      return admit();
    });
  }

  /** Of a stranger one credential is verified at a time: when one of them is good, the others need not wait. */
  #verify(admit: () => Authenticated | Promise<Authenticated>): Authenticated | Promise<Authenticated> {
    const connection = this.#connection;
    if (connection.verifying !== undefined) return this.#verifyLater(admit);
    const who = admit();
    if (!(who instanceof Promise)) return who;
    const over = who.then(
      (one) => this.#known(one),
      () => undefined,
    );
    connection.verifying = over.finally(() => {
      connection.verifying = undefined;
    });
    return who;
  }

  async #verifyLater(admit: () => Authenticated | Promise<Authenticated>): Promise<Authenticated> {
    const connection = this.#connection;
    while (connection.verifying !== undefined && connection.caller === undefined) await connection.verifying;
    if (connection.isLeft) throw canceled("the connection was closed");
    return connection.caller === undefined ? this.#verify(admit) : this.#inTurn(admit);
  }

  #known({ caller }: Authenticated): void {
    this.#options.connections.known(this.#connection, caller, isOurs(this.#request, caller));
  }

  #announceLane({ status, header }: UniversalServerResponse, { caller }: Authenticated): void {
    const { lane } = this.#options;
    if (lane === undefined || header === undefined || !isOurs(this.#request, caller)) return;
    // The headers of an error may be handed on by whom it is thrown to.
    if (status === OK) announce(lane, this.#connection.socket, header);
  }

  /** @throws ConnectError resource_exhausted, if there is no slot, or for a body that is announced too long. */
  #enter({ limits, method, isPublic, authenticator }: Route, who: Authenticated): void {
    if (!isPublic) this.#known(who);
    checkAnnounced(this.#request, limits);
    const { address, caller } = this.#connection;
    this.#slot = this.#options.slots.take(who.caller, caller === undefined ? address : `of ${caller}`);
    if (isPublic) return;
    this.#release = this.#options.hold?.(who.caller, () => this.#ended.abort(NO_LONGER_GOOD));
    if (method.desc.methodKind !== "unary") this.#watchExpiry(authenticator, who);
  }

  /** What stays open longer than its credential was good for presents it again. */
  #watchExpiry(authenticator: Authenticator, { expiresAt }: Authenticated): void {
    if (expiresAt === undefined || this.#left.signal.aborted) return;
    const present = async (): Promise<void> => {
      try {
        this.#watchExpiry(authenticator, await authenticator.authenticate(credentialOf(this.#request)));
      } catch (error) {
        this.#ended.abort(error);
      }
    };
    const left = Math.min(Math.max(expiresAt - Date.now(), SHORTEST_MS), LONGEST_TIMER_MS);
    this.#expiry = setTimeout(() => void present(), left);
  }

  #universal({ takesOne, limits, method }: Route, who: Authenticated): UniversalServerRequest {
    const request = this.#request;
    const { httpVersion, url = "" } = request;
    // Who waits to be told to go on (RFC 9110 section 10.1.1) is told only now.
    if (request.headers.expect !== undefined) this.#response.writeContinue();
    const contextValues = createContextValues().set(CALL, {
      who,
      request,
      ended: this.#ended.signal,
      refused: () => this.#options.connections.refused(this.#connection),
    });
    const body = takesOne
      ? wholeBody(request, limits, this.#slot as CallSlot, (begun) =>
          checkBegun(method.desc.input, request.headers["content-type"] ?? "", begun),
        )
      : liveBody(request, SILENT_MS, () => abandon(this.#response));
    return {
      httpVersion,
      method: request.method ?? "",
      // Only its query is looked at.
      url: `http://localhost${url}`,
      header: headerOf(request),
      body,
      signal: this.#left.signal,
      contextValues,
    };
  }

  #refuse(error: ConnectError): void {
    const request = this.#request;
    const response = this.#response;
    if (this.#left.signal.aborted || response.headersSent) return;
    discard(request, response);
    answer(response, refusalOf(error, request.headers["content-type"] ?? ""));
    const { connections } = this.#options;
    if (COUNTED.has(error.code)) connections.refused(this.#connection);
    if (error.code === Code.ResourceExhausted) connections.exhausted(this.#connection);
  }

  #close(): void {
    const connection = this.#connection;
    connection.callEnded();
    clearTimeout(this.#expiry);
    this.#release?.();
    this.#slot?.free();
    this.#left.abort(WENT_AWAY);
  }
}

/** Refusals that are the client's own. */
const COUNTED: ReadonlySet<Code> = new Set([
  Code.Unauthenticated,
  Code.Unimplemented,
  Code.InvalidArgument,
  Code.ResourceExhausted,
]);
/** Made once: where a connection ends, a hundred calls are told. */
const WENT_AWAY = canceled("the client went away");
const NO_LONGER_GOOD = unauthenticated(
  "the credential of this call is no longer valid, or cannot be checked: call again with a valid one",
);
