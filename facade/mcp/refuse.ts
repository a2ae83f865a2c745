import type { HttpRefusal } from "../admission/refusals.js";
import type { Exchange, HeaderList } from "../http/exchange.js";
import { errorText, idOf, type RequestId } from "./json-rpc.js";

/** Longest body that is read of a request that is refused, for its id alone, in bytes. */
export const MAX_REFUSED_BODY = 64 << 10;
/** How long a refused request is waited for, in milliseconds. */
const REFUSED_BODY_MS = 1_000;

/**
 * Refuses a request with a JSON-RPC error that echoes its id, without which
 * clients do not show the sentence; the id is left out where it is not known.
 *
 * @param headers what a JSON answer to this client carries.
 */
export function refuse(exchange: Exchange, refusal: HttpRefusal, headers: HeaderList, id?: RequestId): void {
  const { status, message, word } = refusal;
  const text = errorText(id, status, message, { error: word });
  exchange.answer(status, refusal.headers === undefined ? headers : [...headers, ...refusal.headers], text);
}

/** Reads the body for its id alone, to the bounds of length and time, and refuses. */
export function readAndRefuse(exchange: Exchange, refusal: HttpRefusal, headers: HeaderList): void {
  // Who may not come in does not hold a place by sending slowly.
  const timer = setTimeout(() => refuse(exchange, refusal, headers), REFUSED_BODY_MS);
  exchange.read(MAX_REFUSED_BODY, (body) => {
    clearTimeout(timer);
    refuse(exchange, refusal, headers, idOf(body));
  });
}
