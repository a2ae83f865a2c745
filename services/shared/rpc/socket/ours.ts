import type { Caller } from "../call.js";
import { callsItself } from "../steps/allow-list.js";
import type { NodeRequest } from "./body.js";
import { credentialOf } from "./headers.js";
import { INTERNAL } from "./slots.js";

/** Whether one of our own processes made a call, as itself or for its caller. */
export function isOurs(request: NodeRequest, caller: Caller): boolean {
  const isAsserted = credentialOf(request).assertion !== undefined && !callsItself(caller);
  return isAsserted || caller.scopes.has(INTERNAL);
}
