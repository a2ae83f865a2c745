import { randomFillSync } from "node:crypto";

/** Bytes of a trace id and of the id of a span. */
const TRACE = 16;
const SPAN = 8;

/** Random bytes, drawn for many ids at a time. */
const pool = Buffer.alloc((TRACE + SPAN) * 256);
let used = pool.length;

/** The trace flags (W3C Trace Context Level 2, section 3.2.2.5): the id is random; with 1 somebody traces it. */
const RANDOM = "02";
const RANDOM_TRACED = "03";

/**
 * A trace context for a call that came without one, so that all that is written of the call can be found by one id.
 *
 * @param isTraced whether spans are made of it.
 */
export function newTraceparent(isTraced: boolean): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const ids = pool.toString("hex", used, used + TRACE + SPAN);
  used += TRACE + SPAN;
  return `00-${ids.slice(0, TRACE * 2)}-${ids.slice(TRACE * 2)}-${isTraced ? RANDOM_TRACED : RANDOM}`;
}

/**
 * A context that says nobody traces the call, and was probably made here: it is for our own records. Others would take
 * it for the wish that they do not trace either.
 */
export function isForOurselves(traceparent: string): boolean {
  return traceparent.endsWith(`-${RANDOM}`);
}

/** The trace id of a context, which is between its first two dashes; "" for none. */
export function traceIdOf(traceparent = ""): string {
  const from = traceparent.indexOf("-") + 1;
  if (from === 0) return "";
  const end = traceparent.indexOf("-", from);
  return end < 0 ? traceparent.slice(from) : traceparent.slice(from, end);
}
