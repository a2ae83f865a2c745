import type { Caller } from "../rpc/call.js";
import type { Lease } from "./lease.js";

/** Responses that stay open: each ends with the credential it was opened by. */
export interface OpenResponses {
  /** Returns the release, for a response that ends by itself. */
  add(caller: Caller, kill: () => void): () => void;
  /** Kills those of the callers meant. */
  kill(meant: (caller: Caller) => boolean): void;
}

/** A response opened before the first lease may stay open for this long without one. */
const UNLEASED_MS = 3_000;

/** All of them are killed when the lease lapses: without it nobody would hear of a revocation. */
export function createOpenResponses(lease: Lease): OpenResponses {
  const open = new Set<{ readonly caller: Caller; readonly kill: () => void }>();
  let watching = false;

  function kill(meant: (caller: Caller) => boolean): void {
    for (const response of [...open]) {
      if (!meant(response.caller)) continue;
      open.delete(response);
      response.kill();
    }
  }

  function watchLapse(graceMs: number): void {
    if (watching) return;
    watching = true;
    const check = (): void => {
      watching = false;
      if (!lease.held()) kill(() => true);
      else if (open.size > 0) watchLapse(0);
    };
    setTimeout(check, Math.max(lease.left(), graceMs) + 1).unref();
  }

  return {
    add(caller, kill) {
      const response = { caller, kill };
      open.add(response);
      watchLapse(lease.held() ? 0 : UNLEASED_MS);
      return () => {
        open.delete(response);
      };
    },
    kill,
  };
}
