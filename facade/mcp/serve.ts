import { bearerOf, type HttpRefusal, isUnexpanded, noTokenRefusal, tokenRefusal } from "../admission/challenge.js";
import type { Credentials, Known } from "../admission/credentials.js";
import type { BadTokens } from "../admission/limits.js";
import type { Origins } from "../admission/origins.js";
import type { EndpointStates } from "../catalogue/endpoint-states.js";
import type { Endpoint } from "../catalogue/endpoints.js";
import type { Exchange } from "../http/http.js";
import { classify } from "./era.js";
import { errorText, idOf, PARSE_ERROR, type RequestId } from "./json-rpc.js";
import { serveBatch, serveLegacy } from "./legacy.js";
import { serveModern } from "./rev-2026-07-28.js";
import type { Admitted, McpContext, McpServer } from "./server.js";

/** Longest body of a request, in bytes. */
export const MAX_BODY = 4 << 20;
/** Longest body that is read of a request that is refused, for its id alone. */
const MAX_REFUSED_BODY = 64 << 10;
/** How long a refused request is waited for, in milliseconds. */
const REFUSED_BODY_MS = 1_000;

export interface ServeOptions {
  readonly credentials: Credentials;
  readonly states: EndpointStates;
  readonly origins: Origins;
  readonly badTokens: BadTokens;
  readonly servers: ReadonlyMap<string, McpServer>;
  readonly context: Omit<McpContext, "refuseRevoked">;
  /** Where the client is: behind proxies not the address of the connection. */
  readonly addressOf: (exchange: Exchange) => string;
}

/**
 * Builds what answers a request to an endpoint. The first refusal wins, in
 * this order: method, origin, bearer token, endpoint state, content type,
 * length, and then the protocol's own.
 */
export function createServe(options: ServeOptions): (exchange: Exchange, endpoint: Endpoint) => void {
  const { credentials, states, origins, badTokens, servers, addressOf } = options;
  const context: McpContext = {
    ...options.context,
    refuseRevoked: ({ exchange, endpoint }, id) => refuse(exchange, tokenRefusal(endpoint.challenge, "revoked"), id),
  };

  type Verdict = Known | HttpRefusal;

  function admit(exchange: Exchange, endpoint: Endpoint): Verdict | Promise<Verdict> {
    const token = bearerOf(exchange.headers.authorization);
    if (token === undefined) return noTokenRefusal(endpoint.challenge);
    if (isUnexpanded(token)) return tokenRefusal(endpoint.challenge, "unexpanded");
    const known = credentials.peek(token);
    if (known !== undefined && known.expiresAt > Date.now()) return enter(exchange, endpoint, known);
    return verify(exchange, endpoint, token);
  }

  async function verify(exchange: Exchange, endpoint: Endpoint, token: string): Promise<Verdict> {
    const address = addressOf(exchange);
    if (!badTokens.allows(address, token)) return tokenRefusal(endpoint.challenge, "throttled");
    const verified = await credentials.verify(token).catch(() => ({ refused: "unavailable" }));
    if (!("refused" in verified)) return enter(exchange, endpoint, verified);
    if (verified.refused !== "unavailable") badTokens.refused(address, token);
    return tokenRefusal(endpoint.challenge, verified.refused);
  }

  function enter(exchange: Exchange, endpoint: Endpoint, known: Known): Verdict | Promise<Verdict> {
    const state = states.of(endpoint.server);
    if (state instanceof Promise) return state.then((refusal) => refusal ?? checkType(exchange) ?? known);
    return state ?? checkType(exchange) ?? known;
  }

  function refuse(exchange: Exchange, refusal: HttpRefusal, id: RequestId | undefined) {
    const { status, message, word, headers = [] } = refusal;
    const text = errorText(id, status, message, { error: word });
    exchange.answer(status, [...origins.headersFor(exchange.headers.origin), ...headers], text);
  }

  /** Reads the body for its id alone, to the bounds of length and time, and refuses. */
  function readAndRefuse(exchange: Exchange, refusal: HttpRefusal) {
    // Who may not come in does not hold a place by sending slowly.
    const timer = setTimeout(() => refuse(exchange, refusal, undefined), REFUSED_BODY_MS);
    exchange.read(MAX_REFUSED_BODY, (body) => {
      clearTimeout(timer);
      refuse(exchange, refusal, idOf(body));
    });
  }

  function settle(exchange: Exchange, endpoint: Endpoint, verdict: Verdict, body: string | undefined) {
    if ("status" in verdict) return refuse(exchange, verdict, idOf(body));
    if (body === undefined) return refuse(exchange, TOO_LARGE, undefined);
    answer(exchange, endpoint, verdict, body);
  }

  function answer(exchange: Exchange, endpoint: Endpoint, known: Known, body: string) {
    const headers = origins.headersFor(exchange.headers.origin);
    let message: unknown;
    try {
      message = JSON.parse(body);
    } catch {
      return exchange.answer(400, headers, errorText(undefined, PARSE_ERROR, "Parse error: the body is not JSON"));
    }
    const found = classify(message, exchange.headers["mcp-protocol-version"]);
    if (found.kind === "accepted") return exchange.answer(202, headers.slice(4));
    if (found.kind === "refused") {
      return exchange.answer(400, headers, errorText(found.id, found.code, found.message));
    }
    const server = servers.get(endpoint.server) as McpServer;
    const admitted: Admitted = { exchange, endpoint, server, known, headers };
    if (found.kind === "modern") serveModern(context, admitted, found.request);
    else if (found.kind === "legacy") serveLegacy(context, admitted, found.request);
    else serveBatch(context, admitted, found.elements);
  }

  function serveWhenKnown(exchange: Exchange, endpoint: Endpoint, pending: Promise<Verdict>): void {
    let read = false;
    let body: string | undefined;
    let verdict: Verdict | undefined;
    exchange.read(
      () => (verdict !== undefined && "status" in verdict ? MAX_REFUSED_BODY : MAX_BODY),
      (text) => {
        read = true;
        body = text;
        if (verdict !== undefined) settle(exchange, endpoint, verdict, body);
      },
    );
    // What the client sends waits outside until it is known who sends it.
    if (!read) exchange.pause();
    const judge = (judged: Verdict): void => {
      verdict = judged;
      // Also when the body came with the headers: the connection's next request must be read.
      exchange.resume();
      if (read) settle(exchange, endpoint, verdict, body);
    };
    pending.then(judge, () => judge(tokenRefusal(endpoint.challenge, "unavailable")));
  }

  return (exchange, endpoint) => {
    const { method, headers } = exchange;
    if (method === "OPTIONS") {
      const preflight = origins.preflightFor(headers.origin);
      return origins.allows(headers.origin) ? exchange.answer(204, preflight) : refuse(exchange, BAD_ORIGIN, undefined);
    }
    if (method !== "POST") return refuse(exchange, NOT_POST, undefined);
    if (!origins.allows(headers.origin)) return readAndRefuse(exchange, BAD_ORIGIN);
    const verdict = admit(exchange, endpoint);
    if (verdict instanceof Promise) return serveWhenKnown(exchange, endpoint, verdict);
    if ("status" in verdict) return readAndRefuse(exchange, verdict);
    exchange.read(MAX_BODY, (body) => settle(exchange, endpoint, verdict, body));
  };
}

function checkType({ headers }: Exchange): HttpRefusal | undefined {
  const type = headers["content-type"];
  if (type === "application/json") return undefined;
  return type?.split(";", 1)[0]?.trim().toLowerCase() === "application/json" ? undefined : BAD_TYPE;
}

const NOT_POST: HttpRefusal = {
  status: 405,
  word: "method_not_allowed",
  message: "Send MCP messages with POST.",
  headers: ["allow", "POST"],
};
const BAD_ORIGIN: HttpRefusal = {
  status: 403,
  word: "origin_not_allowed",
  message: "This web origin may not call the service: an administrator can allow it.",
};
const BAD_TYPE: HttpRefusal = {
  status: 415,
  word: "unsupported_media_type",
  message: "Send the message as application/json.",
};
const TOO_LARGE: HttpRefusal = {
  status: 413,
  word: "too_large",
  message: `A request may be ${MAX_BODY >> 20} MiB long: send less at once.`,
};
