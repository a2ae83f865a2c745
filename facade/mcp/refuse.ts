import type { HttpRefusal } from "../admission/refusals.js";
import type { Rooms } from "../admission/rooms.js";
import type { Exchange, HeaderList } from "../http/exchange.js";
import { errorText, idOf, type RequestId } from "./json-rpc.js";

/** Longest body that is read of a request that is refused, for its id alone, in bytes. */
export const MAX_REFUSED_BODY = 64 << 10;
/** How long a refused request is waited for, in milliseconds. */
export const REFUSED_BODY_MS = 1_000;

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

/**
 * Reads the body for its id alone, to the bounds of length and time, and
 * refuses; at once where there is no place to read it in, and of whom there is
 * too much already unread.
 */
export function readAndRefuse(exchange: Exchange, refusal: HttpRefusal, headers: HeaderList, rooms: Rooms) {
  const place = exchange.postponed ? "share" : rooms.refused(exchange);
  if (typeof place === "string") return refuse(exchange, refusal, headers);
  exchange.occupy(place);
  exchange.read(MAX_REFUSED_BODY, (body) => refuse(exchange, refusal, headers, idOf(body)));
  // Who may not come in does not hold a place by sending slowly.
  exchange.bound(MAX_REFUSED_BODY, REFUSED_BODY_MS);
}
