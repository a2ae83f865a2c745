import type { Rate } from "../../services/shared/limits/bucket.js";
import { Buckets } from "../../services/shared/limits/buckets.js";
import type { Arrival } from "./admit.js";

/** Requests that unauthenticated callers at one address may send at once, and then a second. An office behind one address sends fewer. */
const RATE: Rate = { burst: 256, perSecond: 128 };
const MAX_ADDRESSES = 10_000;

/** A request that an unauthenticated caller may have sent. */
export interface UnauthenticatedRequest extends Arrival {
  /** See Exchange. */
  postpone(): void;
}

/**
 * Counts by address the requests of unauthenticated callers: those that are
 * refused, and those for what is public. Answers beyond the rate wait until there
 * is time. An admitted request is never counted here.
 */
export interface Unauthenticated {
  /** Counts a request, and postpones it if it is one too many. */
  count(request: UnauthenticatedRequest): void;
}

/** Whose requests are counted together, and how many there may be. */
export interface UnauthenticatedOptions {
  /** The address of the client: behind proxies not that of the connection. */
  readonly addressOf: (arrival: Arrival) => string;
  /** Absent for RATE. */
  readonly rate?: Rate | undefined;
}

/** Makes the count, with the whole rate for every address. @param now milliseconds of a clock that only goes forward. */
export function createUnauthenticated(
  { addressOf, rate = RATE }: UnauthenticatedOptions,
  now?: () => number,
): Unauthenticated {
  const buckets = new Buckets(rate, MAX_ADDRESSES, now);
  return {
    count(request) {
      if (buckets.take(addressOf(request)) > 0) request.postpone();
    },
  };
}
