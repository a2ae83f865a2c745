import type { Known } from "../../services/shared/credentials/known.js";
import type { HttpRefusal } from "../admission/refusals.js";
import type { RequestSlots } from "../admission/slots.js";
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
  const { status } = refusal;
  const text = id === undefined ? textWithoutId(refusal) : textOf(refusal, id);
  exchange.answer(status, refusal.headers === undefined ? headers : [...headers, ...refusal.headers], text);
}

/** Written once each: many may be told the same. */
const withoutId = new WeakMap<HttpRefusal, string>();

function textWithoutId(refusal: HttpRefusal): string {
  let text = withoutId.get(refusal);
  if (text === undefined) {
    text = textOf(refusal, undefined);
    withoutId.set(refusal, text);
  }
  return text;
}

function textOf({ status, message, word }: HttpRefusal, id: RequestId | undefined): string {
  return errorText(id, status, message, { error: word });
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
  refusal: HttpRefusal,
  headers: HeaderList,
  slots: RequestSlots,
  known?: Known,
): void {
  const slot = known !== undefined ? slots.refusedOf(known) : exchange.postponed ? "share" : slots.refused(exchange);
  if (typeof slot === "string") {
    refuse(exchange, refusal, headers);
    return;
  }
  exchange.occupy(slot);
  exchange.readJson(MAX_REFUSED_BODY, (body) => refuse(exchange, refusal, headers, idOf(body)));
  // A refused request does not keep a slot by sending slowly.
  exchange.bound(MAX_REFUSED_BODY, REFUSED_BODY_MS);
}
