import type { APIError } from "openai";
import { plainError, wordsOf } from "../../../shared/isolation/apart/bounded-fetch.js";
import { NONE, type Usage } from "../usage.js";
import { AnswerError, BrokenError, ToldError, UnreadableError } from "./chat-answer.js";
import { refusedParameter } from "./parameters.js";
import { IN_BODY, waitOf } from "./retry-after.js";
import { windowIn } from "./window-in.js";

// What it means that a service of models did not answer, in whichever way it says so.

/**
 * Why there is no answer. `busy`: asked later it may answer. `down`: it did not answer this time. `full`: the
 * conversation is longer than it takes. `denied`: it does not let us use the model. `refused`: it does not take the
 * request. `unreadable`: it answered, and asking again may cost the same again.
 */
export type FailureKind = "busy" | "down" | "full" | "denied" | "refused" | "unreadable";

/** A request without an answer. */
export interface ModelFailure {
  readonly kind: FailureKind;
  /** In words; they may hold what is secret. */
  readonly why: string;
  /** When the service wants to be asked again, in milliseconds from now, if it said so. */
  readonly afterMs?: number;
  /** Of what is `full`: the tokens that the model reads at a time, if the service said it. */
  readonly window?: number;
  /** What it took all the same: as the service states it; about, of an answer that cannot be read. */
  readonly usage: Usage;
}

/** Statuses of a service that is too busy, or that is not there at the moment. */
const BUSY: ReadonlySet<number> = new Set([429, 498, 503, 529]);
const DOWN: ReadonlySet<number> = new Set([408, 409]);
/** Of those of a server, the one that says that it cannot do this at all. */
const NOT_MADE = 501;
/** What is longer than a proxy or a service takes at once. */
const TOO_LARGE = 413;
/** Words of services that are not busy, though they say 429: waiting does not help. */
const USED_UP = /insufficient_quota|billing|exceeded your current quota|credit balance/i;
const FULL =
  /context.{0,20}(length|window|size)|maximum context|too many (input )?tokens|prompt is too long|input is too long|exceed.{0,20}context|request too large|tokens must be reduced/i;
/** Words that stand for good of those that {@link USED_UP} has. */
const FOR_GOOD = /insufficient_quota|credit balance/i;

/** Why a request has no answer. @param estimate of what an answer took that states nothing. */
export function failureOfRequest(error: unknown, request: object, estimate: Usage): ModelFailure {
  return namingParameter(error, request) ?? failureOf(error, estimate);
}

/** Which parameter of a request is refused, if that is why. */
function namingParameter(error: unknown, request: object): ModelFailure | undefined {
  const name = refusedParameter(error, request);
  if (name === undefined) return undefined;
  const { why, kind } = failureOf(error);
  if (kind === "full") return undefined;
  const words = `it refused ${name} (${why}): change or omit ${name} in the parameters of the agent with update_agent`;
  return { kind: "refused", why: words, usage: NONE };
}

/** @param estimate of what an answer took that states nothing. */
export function failureOf(error: unknown, estimate: Usage = NONE): ModelFailure {
  if (error instanceof AnswerError) return { ...toldBy(error), usage: error.usage ?? estimate };
  const { status, message, headers, code } = error as Partial<APIError>;
  if (typeof status !== "number") return { kind: "down", why: plainError(error).message, usage: NONE };
  if (status === 401 || status === 403)
    return {
      kind: "denied",
      why: `it refused the credential (HTTP ${status}): set another one with update_integration`,
      usage: NONE,
    };
  const why = `HTTP ${wordsOf({ message: message ?? String(status) })}`;
  const words = `${code ?? ""} ${message ?? ""}`;
  const isTimed = (headers as Headers | undefined)?.get(IN_BODY) != null && !FOR_GOOD.test(words);
  // Who says in the same words that a quota is used up when a minute's is, says for how long.
  const kind = isTimed && BUSY.has(status) ? "busy" : kindOf(status, words);
  const afterMs = kind === "busy" && headers !== undefined ? waitOf(headers as Headers) : undefined;
  const window = kind === "full" ? windowIn(message ?? "") : undefined;
  return { kind, why, usage: NONE, ...(afterMs !== undefined && { afterMs }), ...(window !== undefined && { window }) };
}

function toldBy(error: AnswerError): Pick<ModelFailure, "kind" | "why"> {
  const { message } = error;
  if (error instanceof UnreadableError) return { kind: "unreadable", why: message };
  if (error instanceof BrokenError) return { kind: "down", why: message };
  const code = error instanceof ToldError ? error.code : "";
  const status = Number(/\b[1-5]\d\d\b/.exec(code)?.[0] ?? Number.NaN);
  return { kind: kindOf(status, `${code} ${message}`), why: `it answered: ${message}` };
}

function kindOf(status: number, words: string): FailureKind {
  if (FULL.test(words) || status === TOO_LARGE) return "full";
  if (USED_UP.test(words) || status === 402 || status === 404) return "denied";
  if (BUSY.has(status)) return "busy";
  if (DOWN.has(status) || (status >= 500 && status !== NOT_MADE)) return "down";
  if (!Number.isNaN(status)) return "refused";
  return /rate.?limit|overload/i.test(words)
    ? "busy"
    : /server.?error|unavailable|timeout/i.test(words)
      ? "down"
      : "refused";
}
