import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** How much a holder may fail, and what happens then. */
export interface FailureLimits {
  /** Different texts, such as tokens, that a holder may fail with in `windowMs`. */
  readonly budget: number;
  readonly windowMs: number;
  /** Between two attempts of a holder that is over its budget, in milliseconds. */
  readonly paceMs: number;
  /** Longest wait for an attempt, in milliseconds. */
  readonly maxWaitMs: number;
  /** How many holders are remembered. */
  readonly holders: number;
}

/**
 * Limits what the failed attempts of a holder cost, and never keeps a good one
 * out: a holder that failed with too many different texts has its next attempts
 * made at a pace, in the order in which they came.
 *
 * One text that fails again and again counts once: clients repeat themselves.
 */
export class Failures {
  readonly #limits: FailureLimits;
  readonly #now: () => number;
  readonly #failed: LRUCache<string, Set<string>>;
  /** When the next attempt of a holder that is over its budget may be made. */
  readonly #next: LRUCache<string, number>;

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(limits: FailureLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#failed = new LRUCache({ max: limits.holders, ttl: limits.windowMs });
    this.#next = new LRUCache({ max: limits.holders });
  }

  /** Milliseconds until a holder's attempt may be made: 0 at once, infinite if too many wait already. */
  waitOf(holder: string, text: string): number {
    if (!this.#isOver(this.#failed.get(holder), text)) return 0;
    const { paceMs, maxWaitMs } = this.#limits;
    const now = this.#now();
    const at = Math.max(now, this.#next.get(holder) ?? 0);
    if (at - now > maxWaitMs) return Number.POSITIVE_INFINITY;
    this.#next.set(holder, at + paceMs);
    return at - now;
  }

  /** Notes that an attempt of a holder failed; returns whether that is one too many. */
  note(holder: string, text: string): boolean {
    const texts = this.#failed.get(holder) ?? new Set();
    if (this.#isOver(texts, text)) return true;
    if (texts.size === 0) this.#failed.set(holder, texts);
    if (texts.size < this.#limits.budget) texts.add(digestOf(text));
    return false;
  }

  #isOver(texts: ReadonlySet<string> | undefined, text: string): boolean {
    return texts !== undefined && texts.size >= this.#limits.budget && !texts.has(digestOf(text));
  }
}

function digestOf(text: string): string {
  return hash("sha256", text, "base64");
}
