import { MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import { RefusedAddressError } from "../../../shared/outgoing/guard.js";

/** The name of the error of a call that may have taken effect: it was sent, or may have been, and no answer could be read. */
export const UNCLEAR = "UnclearError";
/** An argument of the request that the client of HTTP does not take: nothing was sent. */
const NOT_TAKEN = /^(?:UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED)|ERR_INVALID_\w+)$/;

/**
 * Whether a call that failed may have taken effect. Of all failures of a connection this is said alike: a difference
 * would say which ports are open.
 */
export function isUnclear(error: unknown): boolean {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error; depth++) {
    if (inner instanceof RefusedAddressError) return false;
    const { code } = inner as { readonly code?: unknown };
    if (typeof code === "string") return !NOT_TAKEN.test(code);
    inner = inner.cause;
  }
  // What a fetch says of its own arguments has no cause.
  return !(error instanceof TypeError && error.cause === undefined);
}

/** An error of a thread, marked if its call may have taken effect; MisbehavedError says that itself. */
export function marked(plain: Error, unclear: boolean): Error {
  if (unclear && !(plain instanceof MisbehavedError)) plain.name = UNCLEAR;
  return plain;
}
