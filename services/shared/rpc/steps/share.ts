import { exhausted } from "../../limits/refusal.js";
import type { Shares } from "../../limits/shares.js";
import type { Caller, Incoming } from "../call.js";
import { callsItself } from "./allow-list.js";

/**
 * Whether a call counts against its caller's share here: where a key was
 * presented at this door. An assertion stands for a caller whom the façade, or
 * another service of ours, has counted; but a service account brings its own.
 * Services of ours count for nobody.
 */
export function countsHere({ credential }: Incoming, caller: Caller): boolean {
  if (callsItself(caller)) return true;
  return credential.assertion === undefined && !caller.service;
}

/**
 * Counts a call and begins it in its caller's turn.
 *
 * @param begin what comes after; its own failures are its own to record.
 * @throws ConnectError resource_exhausted, where it is one call too many.
 */
export function inTurn(shares: Shares, caller: Caller, isUnary: boolean, begin: () => unknown): unknown {
  const share = shares.of(caller);
  const wait = shares.take(share);
  if (wait > 0) throw exhausted(wait);
  if (isUnary) return shares.run(share, async () => begin());
  return (async function* () {
    await shares.begin(share);
    try {
      yield* begin() as AsyncIterable<unknown>;
    } finally {
      share.active--;
    }
  })();
}
