import type { LookupFunction } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { ExponentialBackoff, handleWhen, retry } from "cockatiel";
import { createOutgoingAgent, type Dispatcher } from "../../shared/outgoing/agent.js";
import { RefusedAddressError } from "../../shared/outgoing/guard.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import {
  canceled,
  deadlineExceeded,
  failedPrecondition,
  resourceExhausted,
  unavailable,
} from "../../shared/rpc/errors.js";
import { excessOf } from "../../shared/rpc/json-shape.js";
import type { Stop } from "../../shared/rpc/stop.js";
import { isForOurselves } from "../../shared/rpc/traceparent.js";
import { replacedText } from "../../shared/rpc/utf8.js";
import { Breaker, PATIENCE, type Patience } from "./breaker.js";
import { createLargeAnswers, UnreadableError } from "./large-answers.js";
import { brokenOff, passing } from "./outcome.js";
import { MAX_REPLY_BYTES, MAX_REPLY_VALUES, TOO_MUCH } from "./reply-bounds.js";
import { isUnsent } from "./unsent.js";
import { type WholeAnswer, wholeAnswerOf } from "./whole-answer.js";
import { within } from "./within.js";

/** The query of a URL: a list repeats its name, undefined leaves it out. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** One HTTP exchange with a platform. */
export interface HttpRequest {
  readonly verb: string;
  /** From the platform's root. */
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is; the caller gives the content type. */
  readonly raw?: Uint8Array;
  /** Nothing changes at the platform, so that a lost exchange may be tried again. */
  readonly read: boolean;
  /** The answer is a file: its bytes are kept beside its text, and it is not looked at as JSON. */
  readonly isFile?: boolean;
  /** Not tried again all the same, such as a sign-in whose token is taken once. */
  readonly once?: boolean;
}

/** What a platform answered. */
export interface HttpReply {
  readonly status: number;
  /** Names in lower case; of repeated headers the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Of a file that was asked for. */
  readonly bytes?: Uint8Array;
  /** @throws ConnectError unavailable, where the body is not JSON. */
  json<T>(): T;
}

/** On whose behalf, and until when. */
export interface Exchange {
  /** The platform: its name for messages, its address without a trailing slash. */
  readonly target: { readonly server: string; readonly url: string };
  readonly signal: AbortSignal;
  readonly deadline?: number | undefined;
  readonly traceparent?: string | undefined;
  readonly tool: string;
}

/**
 * Calls platforms: one connection pool an address, no cookies, no redirects,
 * answers bounded, reads tried again, and a breaker that stops calling an
 * address after five lost exchanges in a row and tries it again after ten
 * seconds. Every status is an answer; an exchange is lost where the connection
 * is, or where a platform says nothing to anybody while it is waited for.
 */
export interface HttpClient {
  /** @throws ConnectError unavailable, deadline_exceeded, canceled or resource_exhausted. */
  send(exchange: Exchange, request: HttpRequest): Promise<HttpReply>;
  close(): Promise<void>;
}

/** Hears how an exchange ended: with a status, as 2xx, with the code of an error, or lost. */
export type NoteExchange = (exchange: Exchange, outcome: string, ms: number) => void;

/** Longer answers are decoded and looked at in a thread, in bytes. */
const MAX_READ_HERE = 256 << 10;
const DEFAULT_TIMEOUT_MS = 60_000;
const CONNECT_MS = 5_000;
/**
 * How long an idle connection is kept where the platform does not say how long
 * it keeps its own: shorter than the shortest that they keep silently, the 2
 * seconds of gunicorn. One that the platform closes while a write is on its way
 * would leave the write's outcome open.
 */
const KEEP_ALIVE_MS = 1_500;

/** Where a platform is, and whether it is called. */
interface Address {
  readonly origin: string;
  readonly breaker: Breaker;
}

class Lost extends Error {
  constructor(
    message: string,
    /** It is known that nothing was sent. */
    readonly isUnsent: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/**
 * Makes the client of a process.
 *
 * @param agentName goes first in the User-Agent, which platforms keep in their audit.
 * @param policy which addresses are called.
 * @param patience for platforms that do not answer.
 * @param resolve looks names up, where not the system does.
 * @param noteExchange hears of each exchange.
 */
export function createHttpClient(
  agentName: string,
  policy: OutgoingPolicy,
  patience = PATIENCE,
  resolve?: LookupFunction,
  noteExchange: NoteExchange = () => undefined,
): HttpClient {
  const agent = createOutgoingAgent({
    policy,
    resolve,
    connectMs: CONNECT_MS,
    connections: 64,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxResponseSize: MAX_REPLY_BYTES,
  });
  const large = createLargeAnswers();
  const addresses = new Map<string, Address>();
  const again = retry(
    handleWhen((error) => error instanceof Lost),
    // Once more after the first.
    { maxAttempts: 1, backoff: new ExponentialBackoff({ initialDelay: 100, maxDelay: 1_000 }) },
  );

  function addressOf(url: string): Address {
    let address = addresses.get(url);
    if (address === undefined) {
      address = { origin: new URL(url).origin, breaker: new Breaker(patience) };
      addresses.set(url, address);
    }
    return address;
  }

  async function exchangeOnce(exchange: Exchange, request: HttpRequest, stop: Stop): Promise<HttpReply> {
    const since = performance.now();
    let outcome = "lost";
    try {
      const reply = await exchangeBreakable(exchange, request, stop);
      outcome = `${Math.trunc(reply.status / 100)}xx`;
      return reply;
    } catch (error) {
      if (error instanceof ConnectError) outcome = codeToString(error.code);
      throw error;
    } finally {
      noteExchange(exchange, outcome, performance.now() - since);
    }
  }

  async function exchangeBreakable(exchange: Exchange, request: HttpRequest, stop: Stop): Promise<HttpReply> {
    const { server, url } = exchange.target;
    const { origin, breaker } = addressOf(url);
    const entry = breaker.enter();
    if (entry === "wait") throw leftAlone(server, patience);
    const since = performance.now();
    try {
      const asked = {
        origin,
        path: pathOf(url, request),
        method: request.verb as Dispatcher.HttpMethod,
        headers: headersOf(agentName, exchange, request),
        body: request.raw ?? (request.body === undefined ? null : JSON.stringify(request.body)),
        headersTimeout: DEFAULT_TIMEOUT_MS,
        bodyTimeout: DEFAULT_TIMEOUT_MS,
      };
      const { status, headers, bytes } = await wholeAnswerOf(agent, asked, stop, (heard) => {
        if (!isLost(request, heard)) breaker.heard();
      });
      if (isLost(request, status)) throw new Lost(`status ${status}`, false);
      if (request.isFile === true) return { ...replyFrom(exchange, request, status, headers, ""), bytes };
      if (bytes.length <= MAX_READ_HERE) return replyOf(exchange, request, status, headers, bytes);
      return replyFrom(exchange, request, status, headers, await readApart(exchange, request, bytes, stop));
    } catch (error) {
      if (stop.aborted && isTimeout(stop.reason)) {
        throw tooLate(server, breaker.ranOut(entry, since), request, error);
      }
      const ended = exchange.signal.aborted
        ? brokenOff(request.read, canceled, "the call was cancelled", { cause: error, advice: "" })
        : failureOf(exchange, request, error);
      if (ended instanceof Lost) breaker.lost(entry);
      else breaker.ended(entry);
      throw ended;
    }
  }

  async function readApart(exchange: Exchange, request: HttpRequest, bytes: Uint8Array, stop: Stop): Promise<string> {
    try {
      return await large.textOf(exchange.target.url, bytes, stop.signal);
    } catch (error) {
      const { name, message } = error as Error;
      if (name === TOO_MUCH) throw tooMuch(exchange, request, message, error);
      if (error instanceof UnreadableError) throw tooMuch(exchange, request, "takes too long to read", error);
      throw error;
    }
  }

  return {
    async send(exchange, request) {
      const left = exchange.deadline === undefined ? DEFAULT_TIMEOUT_MS : Math.max(1, exchange.deadline - Date.now());
      try {
        return await within(exchange.signal, left, async (stop) => {
          const once = () => exchangeOnce(exchange, request, stop);
          return isRepeatable(request) ? again.execute(once, exchange.signal) : once();
        });
      } catch (error) {
        if (error instanceof ConnectError) throw error;
        const said = `the ${exchange.target.server} platform cannot be reached`;
        if (!request.read && (error as Lost).isUnsent) throw passing(unavailable, said, undefined, error);
        throw brokenOff(request.read, unavailable, said, { cause: error });
      }
    },
    async close() {
      await agent.close();
      await large.close();
    },
  };
}

/** What an exchange that broke off comes to: lost, unless it was refused. */
function failureOf(exchange: Exchange, request: HttpRequest, error: unknown): Error {
  if (error instanceof ConnectError || error instanceof Lost) return error;
  if ((error as { code?: string }).code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return tooMuch(exchange, request, `is larger than ${MAX_REPLY_BYTES >> 20} MiB`, error);
  }
  if (error instanceof RefusedAddressError) {
    return failedPrecondition(`the ${exchange.target.server} platform is not called: ${error.message}`, error);
  }
  return new Lost((error as Error).message, isUnsent(error), error);
}

function tooLate(server: string, how: "slow" | "silent", request: HttpRequest, cause: unknown): ConnectError {
  const said = how === "slow" ? "is slow: it answers, but did not answer this in time" : "did not answer in time";
  const advice = "ask for less, or call again later";
  return brokenOff(request.read, deadlineExceeded, `the ${server} platform ${said}`, { cause, advice });
}

function leftAlone(server: string, { tryAgainMs }: Patience): ConnectError {
  return unavailable(`the ${server} platform does not answer; it is tried again within ${tryAgainMs / 1000} seconds`);
}

/** Whether the status says that something between us and the platform has no answer of it. */
function isLost(request: HttpRequest, status: number): boolean {
  return isRepeatable(request) && status >= 502 && status <= 504;
}

function isRepeatable({ read, once }: HttpRequest): boolean {
  return read && once !== true;
}

function tooMuch({ target }: Exchange, { read }: HttpRequest, what: string, cause?: unknown): ConnectError {
  const said = `the ${target.server} platform's answer ${what}`;
  return brokenOff(read, resourceExhausted, said, { cause, advice: "ask for less at a time" });
}

/** Whether a signal fired because time ran out, and not because the caller left. */
function isTimeout(reason: unknown): boolean {
  if (reason instanceof ConnectError) return reason.code === Code.DeadlineExceeded;
  return (reason as { name?: string } | undefined)?.name === "TimeoutError";
}

function pathOf(base: string, { path, query }: HttpRequest): string {
  const url = new URL(`${base.replace(/\/+$/, "")}${path}`);
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) url.searchParams.append(name, String(one));
    }
  }
  return `${url.pathname}${url.search}`;
}

function headersOf(agentName: string, exchange: Exchange, request: HttpRequest): Record<string, string> {
  return {
    accept: "application/json",
    ...(request.body !== undefined && { "content-type": "application/json" }),
    ...(exchange.traceparent !== undefined &&
      !isForOurselves(exchange.traceparent) && { traceparent: exchange.traceparent }),
    "user-agent": `${agentName} (mcp; tool=${exchange.tool})`,
    ...request.headers,
  };
}

/**
 * Reads what a platform answered.
 *
 * @throws ConnectError resource_exhausted, where it is made of more than is parsed.
 */
export function replyOf(
  exchange: Exchange,
  request: HttpRequest,
  status: number,
  given: WholeAnswer["headers"],
  bytes: Uint8Array,
): HttpReply {
  const excess = excessOf(bytes, MAX_REPLY_VALUES);
  if (excess !== undefined) throw tooMuch(exchange, request, excess);
  return replyFrom(exchange, request, status, given, replacedText(bytes));
}

/** What a platform answered, whose text is known to be small enough to parse. */
function replyFrom(
  exchange: Exchange,
  request: HttpRequest,
  status: number,
  given: WholeAnswer["headers"],
  text: string,
): HttpReply {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (first !== undefined) headers[name.toLowerCase()] = first;
  }
  return {
    status,
    headers,
    text,
    json<T>() {
      try {
        return JSON.parse(text) as T;
      } catch (error) {
        const said = `the ${exchange.target.server} platform answered with something other than JSON`;
        throw brokenOff(request.read, unavailable, said, { cause: error });
      }
    },
  };
}
