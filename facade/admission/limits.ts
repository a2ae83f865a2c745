import { hash } from "node:crypto";
import { BoundedMap } from "./bounded-map.js";

/** Lets so many through at once and so many more a second, for each key. */
export interface RateLimit {
  /** Takes one; returns 0, or the seconds until the next is free. */
  take(key: string): number;
}

const MAX_KEYS = 50_000;

/** A token bucket for each key. */
export function createRateLimit(perSecond: number, burst: number): RateLimit {
  const buckets = new BoundedMap<string, { left: number; at: number }>(MAX_KEYS);
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
  const tried = new BoundedMap<string, { readonly tokens: Set<string>; readonly until: number }>(MAX_ADDRESSES);
  const current = (address: string) => {
    const found = tried.get(address);
    return found !== undefined && found.until > Date.now() ? found : undefined;
  };
  return {
    allows(address, token) {
      const found = current(address);
      return found === undefined || found.tokens.size < budget || found.tokens.has(digest(token));
    },
    refused(address, token) {
      let found = current(address);
      if (found === undefined) {
        found = { tokens: new Set(), until: Date.now() + windowMs };
        tried.delete(address);
        tried.set(address, found);
      }
      if (found.tokens.size < budget) found.tokens.add(digest(token));
    },
  };
}

function digest(token: string): string {
  return hash("sha256", token, "base64");
}
