import { LRUCache } from "lru-cache";
import type { Attested } from "./invalidations.js";
import type { Known, Refusal } from "./known.js";
import type { Usage } from "./usage.js";

/** A credential as auth verified it. */
export interface Entry extends Attested {
  readonly known: Known;
  readonly usage: Usage;
  /** Milliseconds since the epoch from which the answer is renewed while it is used. */
  renewAt: number;
}

const REFUSALS_KEPT = 10_000;

/**
 * What auth said of the credentials that were presented lately, by token.
 *
 * The tokens themselves are the keys: the look-up is the cheapest there is, V8
 * seeds its string hashes at random for each process, and the tokens pass
 * through this process's memory with every request anyway. They are never
 * logged and leave with their entry.
 */
export class KeptCredentials {
  /** A plain map, and not an LRU: every request looks here, and an LRU would move an entry for each. */
  readonly #entries = new Map<string, Entry>();
  readonly #entryOfKnown = new WeakMap<Known, Entry>();
  readonly #refusals = new LRUCache<string, { readonly refusal: Refusal; readonly until: number }>({
    max: REFUSALS_KEPT,
  });
  readonly #limit: number;

  /** @param limit how many credentials are kept; the one verified longest ago gives way. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Hot path. */
  get(token: string): Entry | undefined {
    return this.#entries.get(token);
  }

  /** The entry behind what was handed out. */
  entryOf(known: Known): Entry | undefined {
    return this.#entryOfKnown.get(known);
  }

  /** The refusal that is remembered of a token. */
  refusalOf(token: string): Refusal | undefined {
    const remembered = this.#refusals.get(token);
    return remembered !== undefined && remembered.until > Date.now() ? remembered.refusal : undefined;
  }

  /** Keeps an answer as the newest. */
  keep(token: string, entry: Entry): void {
    this.#entries.delete(token);
    if (this.#entries.size >= this.#limit) this.#entries.delete(this.#entries.keys().next().value as string);
    this.#entries.set(token, entry);
    this.#entryOfKnown.set(entry.known, entry);
  }

  /** Forgets what is kept of a token, and remembers a refusal for so many milliseconds. */
  refuse(token: string, refusal: Refusal, ms: number): void {
    this.#entries.delete(token);
    if (ms > 0) this.#refusals.set(token, { refusal, until: Date.now() + ms });
  }

  /** Forgets all refusals: what changed may have been their reason. */
  forgetRefusals(): void {
    this.#refusals.clear();
  }

  /** Forgets the entries that are meant. */
  forget(isMeant: (entry: Entry) => boolean): void {
    for (const [token, entry] of this.#entries) if (isMeant(entry)) this.#entries.delete(token);
  }
}
