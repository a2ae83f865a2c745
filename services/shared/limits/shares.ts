import type { Caller } from "../rpc/call.js";
import { Bucket, type Rate } from "./bucket.js";
import { Buckets } from "./buckets.js";
import { Share } from "./share.js";
import { Turns } from "./turns.js";

/** How many calls a key may make, and a user with all keys together. */
export interface CallRates {
  readonly perKey: Rate;
  readonly perUser: Rate;
}

/**
 * What every caller has of this process: calls of all ports are counted here,
 * each once, on the port where the key is presented, and begin in turn.
 */
export interface Shares {
  /** The share of who calls. Hot path. */
  of(caller: Caller): Share;
  /** Counts a call; returns 0, or the seconds to wait where it is one too many. */
  take(share: Share): number;
  /** Whether what the caller sends now begins at once; else it is for `wait`. Hot path. */
  admits(share: Share): boolean;
  /** Calls `begin` when its turn has come. */
  wait(share: Share, begin: () => void): void;
  /** Takes back what waits still. */
  leave(share: Share, begin: () => void): void;
  /** Resolves when a call may begin, which is then under way: who waited ends it with `share.active--`. */
  begin(share: Share): Promise<void>;
  /** Runs a call in its turn. */
  run<T>(share: Share, call: () => Promise<T>): Promise<T>;
}

/** Keys, or users, that are remembered; of more the one seen first goes, unless it has a call under way. */
const REMEMBERED = 50_000;

/** Makes the shares of a process, which knows nobody yet. @param now milliseconds of a clock that only goes forward. */
export function createShares({ perKey, perUser }: CallRates, now = () => performance.now()): Shares {
  const shares = new Map<string, Share>();
  const users = new Buckets(perUser, REMEMBERED, now);
  const turns = new Turns(now);

  function makeRoom(): void {
    for (const [id, share] of shares) {
      shares.delete(id);
      if (share.active === 0 && share.waiting.length === 0) return;
      shares.set(id, share);
    }
  }

  async function begin(share: Share): Promise<void> {
    if (!turns.admits(share)) await new Promise<void>((resolve) => turns.wait(share, resolve));
    share.active++;
  }

  return {
    of({ keyId, id: callerId, account }) {
      // What a service account does for users is its own share, not theirs.
      const id = account?.id ?? callerId;
      const name = keyId === "" ? id : keyId;
      let share = shares.get(name);
      if (share === undefined) {
        share = new Share(new Bucket(perKey, now()), users.of(id));
        if (shares.size >= REMEMBERED) makeRoom();
        shares.set(name, share);
      }
      return share;
    },
    take({ ofKey, ofUser }) {
      const at = now();
      const wait = ofKey.waitAt(at) || ofUser.waitAt(at);
      if (wait > 0) return wait;
      ofKey.take();
      ofUser.take();
      return 0;
    },
    admits: (share) => turns.admits(share),
    wait: (share, go) => turns.wait(share, go),
    leave: (share, go) => turns.leave(share, go),
    begin,
    async run(share, call) {
      await begin(share);
      try {
        return await call();
      } finally {
        share.active--;
      }
    },
  };
}
