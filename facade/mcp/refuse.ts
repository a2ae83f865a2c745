import type { Known } from "../../services/shared/credentials/known.js";
import { counter } from "../../services/shared/metrics/metrics.js";
import type { HttpRefusal } from "../admission/refusals.js";
import type { RequestSlots } from "../admission/slots.js";
import type { Exchange, HeaderList } from "../http/exchange.js";
import { errorText, idOf, type RequestId } from "./json-rpc.js";

/** A refusal that the protocol defines: its JSON-RPC error has a code of its own, and no word for programs. */
export interface ProtocolRefusal {
  readonly status: 400;
  readonly code: number;
  readonly message: string;
  /** The id of the request, if the protocol says another than that of the message. */
  readonly id?: RequestId | undefined;
  readonly headers?: undefined;
}

/** Why a request is not served. */
export type Refusal = HttpRefusal | ProtocolRefusal;

const refusals = counter(
  "sallyport_refused_requests_total",
  "HTTP requests to MCP endpoints that were refused before their method ran, by the word or the code of the refusal.",
  ["reason"],
);

/** Longest body that is read of a request that is refused, for its id alone, in bytes. */
export const MAX_REFUSED_BODY = 64 << 10;
/** How long a refused request is waited for, in milliseconds. */
export const REFUSED_BODY_MS = 1_000;

/**
 * Answers a request with a JSON-RPC error that echoes its id, without which
 * clients do not show the sentence; the id is left out where it is not known.
 *
 * @param headers what a JSON answer to this client carries.
 */
export function answerRefusal(exchange: Exchange, refusal: Refusal, headers: HeaderList, id?: RequestId): void {
  refusals.of("code" in refusal ? String(refusal.code) : refusal.word).add();
  const text = id === undefined ? textWithoutId(refusal) : textOf(refusal, id);
  exchange.answer(refusal.status, refusal.headers === undefined ? headers : [...headers, ...refusal.headers], text);
}

/** Written once each: many may be told the same. */
const withoutId = new WeakMap<Refusal, string>();

function textWithoutId(refusal: Refusal): string {
  let text = withoutId.get(refusal);
  if (text === undefined) {
    text = textOf(refusal, undefined);
    withoutId.set(refusal, text);
  }
  return text;
}

function textOf(refusal: Refusal, id: RequestId | undefined): string {
  const { status, message } = refusal;
  return "code" in refusal
    ? errorText(id, refusal.code, message)
    : errorText(id, status, message, { error: refusal.word });
}

/**
 * Reads the body for its id alone, to the bounds of length and time, and
 * refuses; at once if there is no slot to read it in, or if its sender
 * has too many requests that are not read yet.
 *
 * @param known who was let in, and has a share already.
 */
export function readAndRefuse(
  exchange: Exchange,
  refusal: Refusal,
  headers: HeaderList,
  slots: RequestSlots,
  known?: Known,
): void {
  const slot = known !== undefined ? slots.refusedOf(known) : exchange.postponed ? "share" : slots.refused(exchange);
  if (typeof slot === "string") {
    answerRefusal(exchange, refusal, headers);
    return;
  }
  exchange.occupy(slot);
  exchange.readJson(MAX_REFUSED_BODY, (body) => answerRefusal(exchange, refusal, headers, idOf(body)));
  // A refused request does not keep a slot by sending slowly.
  exchange.bound(MAX_REFUSED_BODY, REFUSED_BODY_MS);
}
