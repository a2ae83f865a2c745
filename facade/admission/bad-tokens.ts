import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/**
 * Bounds what the bad tokens of an address cost, and never shuts a good one
 * out: an address that tried too many different ones has its next tokens
 * verified at a pace, in the order in which they came.
 *
 * One bad token tried again and again counts once: clients repeat themselves.
 */
export interface BadTokens {
  /** Milliseconds until a token of the address may be verified: 0 at once, infinite where too many wait already. */
  waitOf(address: string, token: string): number;
  /** Notes that a token of the address is bad; returns whether that is one too many. */
  refused(address: string, token: string): boolean;
}

const MAX_ADDRESSES = 10_000;
/** Between two verifications for an address that is over its budget: each is a question to auth, and a look-up there. */
const PACE_MS = 20;
/** Longest wait for a turn. */
const MAX_WAIT_MS = 2_000;

/** @param budget how many different bad tokens an address may try in `windowMs`. */
export function createBadTokens(budget: number, windowMs: number, now = () => performance.now()): BadTokens {
  const tried = new LRUCache<string, Set<string>>({ max: MAX_ADDRESSES, ttl: windowMs });
  const turns = new LRUCache<string, number>({ max: MAX_ADDRESSES });

  function isOver(tokens: ReadonlySet<string> | undefined, token: string): boolean {
    return tokens !== undefined && tokens.size >= budget && !tokens.has(digest(token));
  }

  return {
    waitOf(address, token) {
      if (!isOver(tried.get(address), token)) return 0;
      const present = now();
      const turn = Math.max(present, turns.get(address) ?? 0);
      if (turn - present > MAX_WAIT_MS) return Number.POSITIVE_INFINITY;
      turns.set(address, turn + PACE_MS);
      return turn - present;
    },
    refused(address, token) {
      const tokens = tried.get(address) ?? new Set();
      if (isOver(tokens, token)) return true;
      if (tokens.size === 0) tried.set(address, tokens);
      if (tokens.size < budget) tokens.add(digest(token));
      return false;
    },
  };
}

function digest(token: string): string {
  return hash("sha256", token, "base64");
}
