import { createHash } from "node:crypto";
import type { AttemptRecord, AuthStore } from "../store.js";

/** What is tried: whose account, from where, and whether the browser has signed in to it before. */
export interface Attempt {
  /** As it was entered, whether it is anybody's or not. */
  readonly login: string;
  readonly address: string;
  readonly isKnownBrowser: boolean;
}

/** Slows down who guesses passwords, and shuts nobody out. */
export interface Throttle {
  /** Milliseconds until the attempt may be made; 0 if it may be made at once. */
  waitOf(attempt: Attempt): Promise<number>;
  failed(attempt: Attempt): Promise<void>;
  succeeded(attempt: Attempt): Promise<void>;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** How many failures cost nothing, what the next ones cost, and when they are forgotten. */
interface Budget {
  readonly free: number;
  /** The wait after the first that is not free; it doubles with each. */
  readonly firstMs: number;
  readonly mostMs: number;
  readonly forgottenMs: number;
}

/** An account from one address: a person who has forgotten the password. */
const PAIR: Budget = { free: 5, firstMs: 1_000, mostMs: MINUTE, forgottenMs: DAY };
/** An account from everywhere: many who guess one password together. The owner's browsers are not counted here. */
const ACCOUNT: Budget = { free: 100, firstMs: 5_000, mostMs: 5_000, forgottenMs: DAY };
/** An address: one who tries a few passwords on many accounts. Behind it an office may be. */
const ADDRESS: Budget = { free: 50, firstMs: 2_000, mostMs: 10_000, forgottenMs: 10 * MINUTE };
/** A browser that has signed in to this account before: nobody else's failures are its. */
const BROWSER: Budget = { free: 10, firstMs: 1_000, mostMs: MINUTE, forgottenMs: DAY };

interface Counter {
  readonly id: string;
  readonly budget: Budget;
}

/** Counts failures in the store, so that every auth process knows of them. */
export function createThrottle({ attempts }: Pick<AuthStore, "attempts">): Throttle {
  async function waitFor({ id, budget }: Counter): Promise<number> {
    const record = await attempts.findOne({ _id: id });
    const now = Date.now();
    if (record === null || record.expires_at.getTime() <= now) return 0;
    return Math.max(0, record.last_at.getTime() + delayOf(record, budget) - now);
  }

  async function count({ id, budget }: Counter): Promise<void> {
    const now = Date.now();
    // What is forgotten may not be deleted yet.
    await attempts.deleteOne({ _id: id, expires_at: { $lte: new Date(now) } });
    await attempts.updateOne(
      { _id: id },
      { $inc: { failures: 1 }, $set: { last_at: new Date(now), expires_at: new Date(now + budget.forgottenMs) } },
      { upsert: true },
    );
  }

  return {
    async waitOf(attempt) {
      return Math.max(...(await Promise.all(countersOf(attempt).map(waitFor))));
    },
    async failed(attempt) {
      await Promise.all(countersOf(attempt).map(count));
    },
    async succeeded(attempt) {
      const [own] = countersOf(attempt);
      await attempts.deleteOne({ _id: own?.id ?? "" });
    },
  };
}

function delayOf({ failures }: AttemptRecord, { free, firstMs, mostMs }: Budget): number {
  return failures < free ? 0 : Math.min(mostMs, firstMs * 2 ** Math.min(failures - free, 20));
}

/** The first is the attempt's own: it is forgotten when the attempt succeeds. */
function countersOf({ login, address, isKnownBrowser }: Attempt): readonly Counter[] {
  const of = (kind: string, ...parts: string[]) =>
    `${kind}:${createHash("sha256").update(parts.join("\0")).digest("base64url")}`;
  if (isKnownBrowser) return [{ id: of("browser", login), budget: BROWSER }];
  return [
    { id: of("pair", login, address), budget: PAIR },
    { id: of("account", login), budget: ACCOUNT },
    { id: of("address", address), budget: ADDRESS },
  ];
}
