import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** Lets so many through at once and so many more a second, for each key. */
export interface RateLimit {
  /** Takes one; returns 0, or the seconds until the next is free. */
  take(key: string): number;
}

const MAX_KEYS = 50_000;

/** A token bucket for each key. */
export function createRateLimit(perSecond: number, burst: number): RateLimit {
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: MAX_KEYS });
  return {
    take(key) {
      const now = performance.now();
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        bucket = { left: burst, at: now };
        buckets.set(key, bucket);
      }
      bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      if (bucket.left < 1) return (1 - bucket.left) / perSecond;
      bucket.left--;
      return 0;
    },
  };
}

/**
 * Bounds how many different bad tokens an address may try. One bad token tried
 * again and again counts once: clients repeat themselves.
 */
export interface BadTokens {
  /** Whether the address may have another token verified. */
  allows(address: string, token: string): boolean;
  /** Notes that a token of the address was refused. */
  refused(address: string, token: string): void;
}

const MAX_ADDRESSES = 10_000;

/** @param budget how many different bad tokens an address may try in `windowMs`. */
export function createBadTokens(budget: number, windowMs: number): BadTokens {
  const tried = new LRUCache<string, Set<string>>({ max: MAX_ADDRESSES, ttl: windowMs });
  return {
    allows(address, token) {
      const tokens = tried.get(address);
      return tokens === undefined || tokens.size < budget || tokens.has(digest(token));
    },
    refused(address, token) {
      let tokens = tried.get(address);
      if (tokens === undefined) {
        tokens = new Set();
        tried.set(address, tokens);
      }
      if (tokens.size < budget) tokens.add(digest(token));
    },
  };
}

function digest(token: string): string {
  return hash("sha256", token, "base64");
}
