import { Member, Ring } from "../ring.js";
import type { Caller } from "../rpc/call.js";
import type { Lease } from "./lease.js";

/**
 * Why a response that stays open is ended: its key was revoked, or nobody can
 * vouch for its caller as before. Only the first says anything of the key.
 */
export type Ended = "revoked" | "unavailable";

/** Responses that stay open: each ends with the credential it was opened by. */
export interface OpenResponses {
  /** Returns the release, for a response that ends by itself. */
  add(caller: Caller, kill: (ended: Ended) => void): () => void;
  /** Kills those of the callers meant. */
  kill(meant: (caller: Caller) => boolean, ended: Ended): void;
}

/**
 * A response may stay open for this long without a lease: before the first one,
 * and while the next is under way. What happened meanwhile comes before the next
 * lease does, so that nothing that was revoked outlives it. Time in which the
 * event loop was busy counts for no more than a step: what renews the lease could
 * not be read in it.
 */
const UNLEASED_MS = 3_000;
const STEP_MS = 250;

/** All of them are killed when there is no lease for a while: nobody would hear of a revocation. */
export function createOpenResponses(lease: Lease): OpenResponses {
  const open = new Ring<OpenResponse>();
  let watching = false;

  function kill(meant: (caller: Caller) => boolean, ended: Ended): void {
    for (const response of open) {
      if (!meant(response.caller)) continue;
      response.leave();
      response.kill(ended);
    }
  }

  function watchLapse(): void {
    if (watching) return;
    watching = true;
    let unleased = 0;
    const check = (): void => {
      if (lease.held()) unleased = 0;
      else if (unleased >= UNLEASED_MS) kill(() => true, "unavailable");
      else unleased += STEP_MS;
      watching = !open.isEmpty;
      if (watching) setTimeout(check, unleased === 0 ? lease.left() : STEP_MS).unref();
    };
    setTimeout(check, lease.left()).unref();
  }

  return {
    add(caller, kill) {
      const response = new OpenResponse(caller, kill);
      open.enter(response);
      watchLapse();
      return () => response.leave();
    },
    kill,
  };
}

class OpenResponse extends Member {
  constructor(
    readonly caller: Caller,
    readonly kill: (ended: Ended) => void,
  ) {
    super();
  }
}
