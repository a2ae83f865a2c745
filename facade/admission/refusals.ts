import { Code, ConnectError } from "@connectrpc/connect";
import { secondsOf, tooManyCalls } from "../../services/shared/limits/refusal.js";
import type { NoSlot } from "../../services/shared/limits/slots.js";
import type { NotAdmitted } from "./admit.js";
import { invalidTokenChallenge, scopeChallenge } from "./bearer.js";

// Refusals, in the protocol of the route: a JSON-RPC error with an HTTP status on
// /mcp, a Connect error on /rpc. Both have the same sentences.

/** A refusal at the level of HTTP: what the client is told, in a JSON-RPC error that echoes its request's id. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 429 | 503;
  /** A stable word for programs. */
  readonly word: string;
  /** A sentence that says what to do, for people and models. */
  readonly message: string;
  /** Further headers, names and values by turns. */
  readonly headers?: readonly string[];
}

/** What is told to who sends the name of a variable. */
export const UNEXPANDED =
  "The client sent the name of an environment variable instead of its value: set the variable in the environment that the client starts in, or write the API key itself.";

/** Why a token is not accepted, by the word of its refusal. */
const REASONS: Readonly<Record<Exclude<NotAdmitted["refused"], "missing" | "unavailable" | "throttled">, string>> = {
  malformed: "The bearer token is neither an API key nor an access token of this service: check what the client sends.",
  unknown: "The service does not know this API key or token: create a new API key, or sign in again.",
  expired: "The API key or token has expired: create a new API key, or sign in again.",
  revoked: "The API key or token was revoked: create a new API key, or sign in again.",
  disabled: "The account is disabled: ask an administrator to enable it.",
  unexpanded: UNEXPANDED,
  elsewhere:
    "The access token is for another address: every MCP server has tokens of its own. Sign in again at this address.",
};

const MISSING = "No API key or token was sent: sign in, or send an API key as 'Authorization: Bearer <key>'.";
const THROTTLED =
  "Too many invalid credentials came from this address: correct the API key, and try again in a minute.";
const RETRY_S = "2";
const THROTTLED_S = "60";

/** By challenge, of which each endpoint has one, and by why: many are told the same. */
const told = new Map<string, Map<NotAdmitted["refused"], HttpRefusal>>();

/** What an MCP client is told that admission refused. @param challenge the WWW-Authenticate header of the endpoint. */
export function httpRefusalOf(refused: NotAdmitted["refused"], challenge: string): HttpRefusal {
  let refusals = told.get(challenge);
  if (refusals === undefined) {
    refusals = new Map();
    told.set(challenge, refusals);
  }
  let refusal = refusals.get(refused);
  if (refusal === undefined) {
    refusal = refusalOf(refused, challenge);
    refusals.set(refused, refusal);
  }
  return refusal;
}

function refusalOf(refused: NotAdmitted["refused"], challenge: string): HttpRefusal {
  if (refused === "missing") {
    return { status: 401, word: "missing_token", message: MISSING, headers: ["www-authenticate", challenge] };
  }
  if (refused === "unavailable") {
    return {
      status: 503,
      word: "unavailable",
      message: "Credentials cannot be verified at the moment: try again in a few seconds.",
      headers: ["retry-after", RETRY_S],
    };
  }
  // No challenge: of this very token nothing is said.
  if (refused === "throttled") {
    return { status: 429, word: "throttled", message: THROTTLED, headers: ["retry-after", THROTTLED_S] };
  }
  const message = REASONS[refused];
  return {
    status: 401,
    word: "invalid_token",
    message,
    headers: ["www-authenticate", invalidTokenChallenge(challenge, message)],
  };
}

/** What a client of /rpc is told that admission refused, with the codes that services use. */
export function connectErrorOf(refused: NotAdmitted["refused"]): ConnectError {
  switch (refused) {
    case "missing":
      return new ConnectError(
        "no API key or token was sent: sign in, or send an API key as a bearer token",
        Code.Unauthenticated,
      );
    case "unavailable":
      return new ConnectError(
        "credentials cannot be verified at the moment: try again in a few seconds",
        Code.Unavailable,
        {
          "retry-after": RETRY_S,
        },
      );
    case "throttled":
      return new ConnectError(
        "too many invalid credentials came from this address: correct the API key, and try again in a minute",
        Code.ResourceExhausted,
        {
          "retry-after": THROTTLED_S,
        },
      );
    case "unexpanded":
      return new ConnectError(UNEXPANDED, Code.Unauthenticated);
    case "elsewhere":
      return new ConnectError(
        "an access token is good at its MCP endpoint only: send an API key as a bearer token",
        Code.Unauthenticated,
      );
    default:
      return new ConnectError(
        "the API key or token is not accepted: create a new API key, or sign in again",
        Code.Unauthenticated,
      );
  }
}

/** Refuses a call for which the token lacks a scope; names all that are needed now. */
export function scopeRefusal(challenge: string, scopes: readonly string[]): HttpRefusal {
  return {
    status: 403,
    word: "insufficient_scope",
    message: `The token lacks a scope: sign in again and allow ${scopes.join(" ")}.`,
    headers: ["www-authenticate", scopeChallenge(challenge, scopes)],
  };
}

/** Refuses a call of a tool that is one too many. @param wait seconds until one is not. */
export function rateRefusal(wait: number): HttpRefusal {
  const said = tooManyCalls(wait);
  return {
    status: 429,
    word: "too_many_calls",
    message: `${said.slice(0, 1).toUpperCase()}${said.slice(1)}.`,
    headers: ["retry-after", String(secondsOf(wait))],
  };
}

/** Refuses a request to an address below /mcp/ that is no endpoint. */
export function unknownEndpointRefusal(paths: readonly string[]): HttpRefusal {
  return {
    status: 404,
    word: "unknown_endpoint",
    message: `There is no MCP server at this address. The addresses are ${paths.join(", ")}.`,
  };
}

/** Refuses a body that is longer than an endpoint reads. */
export function tooLargeRefusal(maxBytes: number): HttpRefusal {
  return {
    status: 413,
    word: "too_large",
    message: `The request is longer than ${maxBytes >> 20} MiB: send less at once.`,
  };
}

/** Refuses a request that others could read differently. @param fault what is wrong with it, as a sentence. */
export function malformedRefusal(fault: string): HttpRefusal {
  return { status: 400, word: "malformed_request", message: `The request is malformed. ${fault}` };
}

/** Refuses JSON that others could read differently. @param fault what is wrong with it, after "because". */
export function ambiguousRefusal(fault: string): HttpRefusal {
  const message = `The message is refused because ${fault}: other programs between you and the service could read it differently. Nothing was called; correct the message.`;
  return { status: 400, word: "ambiguous_message", message };
}

const CROWD_S = "1";
const BUSY = "The service is busy: try again in a few seconds.";
const SHARE =
  "Too many requests with this API key or from this address are in progress: wait for their answers, then send more.";

const COME_AGAIN = ["retry-after", CROWD_S];
const OVERLOADED: HttpRefusal = { status: 503, word: "overloaded", message: BUSY, headers: COME_AGAIN };
const TOO_MANY: HttpRefusal = { status: 429, word: "too_many_requests", message: SHARE, headers: COME_AGAIN };

/** Refuses a request for which there is no slot: with 429 if its holder has a share already, with 503 under overload. */
export function noSlotRefusal(why: NoSlot): HttpRefusal {
  return why === "full" ? OVERLOADED : TOO_MANY;
}

/** The same for a client of /rpc. */
export function noSlotError(why: NoSlot): ConnectError {
  const headers = { "retry-after": CROWD_S };
  if (why === "full") return new ConnectError(BUSY, Code.Unavailable, headers);
  return new ConnectError(SHARE, Code.ResourceExhausted, headers);
}

/** Refuses a body that does not come. */
export const TOO_SLOW: HttpRefusal = {
  status: 408,
  word: "too_slow",
  message: "The request took too long to arrive: send it again.",
};

/** A Host header that is not on the list. */
export const BAD_HOST: HttpRefusal = {
  status: 403,
  word: "host_not_allowed",
  message:
    "The service does not accept this host name: use its public URL, or ask an administrator to add the host to ALLOWED_HOSTS.",
};

/** An Origin header that is not on the list. */
export const BAD_ORIGIN: HttpRefusal = {
  status: 403,
  word: "origin_not_allowed",
  message: "This web origin may not call the service: ask an administrator to add it to ALLOWED_ORIGINS.",
};

/** Any method but POST. */
export const NOT_POST: HttpRefusal = {
  status: 405,
  word: "method_not_allowed",
  message: "The endpoint takes only POST: send MCP messages with it.",
  headers: ["allow", "POST"],
};

/** Any media type but JSON. */
export const BAD_TYPE: HttpRefusal = {
  status: 415,
  word: "unsupported_media_type",
  message: "The endpoint does not take this media type: send the message as application/json.",
};
