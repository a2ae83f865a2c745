import { exhausted } from "../../limits/refusal.js";
import type { Shares } from "../../limits/shares.js";
import type { RunningCall, Step } from "../running-call.js";
import { callsItself } from "./allow-list.js";

/**
 * Counts a call for its caller's share, and has it begin in its turn.
 *
 * The step throws ConnectError resource_exhausted, if it is one call too many.
 */
export function shareStep(shares: Shares): Step {
  return (call) => {
    if (!countsHere(call)) return undefined;
    const share = shares.of(call.caller);
    const wait = shares.take(share);
    if (wait > 0) throw exhausted(wait);
    return shares.begin(share).then(() => {
      call.share = share;
    });
  };
}

/**
 * Whether a call counts against its caller's share here: if a key was presented on this
 * port. An assertion stands for a caller whom the façade, or another service of ours, has
 * counted; but a service account brings its own. Services of ours count for nobody.
 */
function countsHere({ credential, caller }: RunningCall): boolean {
  if (callsItself(caller)) return true;
  return credential.assertion === undefined && !caller.service;
}
