import { boundsOf } from "../bounds.js";
import type { Method } from "../method.js";
import { scopeOf } from "../steps/access.js";
import { PUBLIC } from "../steps/caller.js";

/** What the body of a call may be. */
export interface MessageLimits {
  /** Of its one message. */
  readonly bytes: number;
  /** How long it may take to come, in milliseconds. */
  readonly bodyMs: number;
}

const BODY_MS = 20_000;
/** Of rpcs that are open to everybody: the longest of theirs is a name. */
const PUBLIC_LIMITS: MessageLimits = { bytes: 4 << 10, bodyMs: 5_000 };

/** What the body of a call of a method may be: its bytes go by the rules of its fields. */
export function messageLimitsOf(method: Method): MessageLimits {
  return scopeOf(method) === PUBLIC ? PUBLIC_LIMITS : { bytes: boundsOf(method.desc.input).bytes, bodyMs: BODY_MS };
}
