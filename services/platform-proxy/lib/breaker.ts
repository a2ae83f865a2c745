/** What a breaker says of an exchange that is to begin: a probe decides for the others whether the platform is back. */
export type Entry = "go" | "probe" | "wait";

/** How long a breaker waits, in milliseconds. */
export interface Patience {
  /** An exchange counts as lost where it was waited for so long and nothing at all came meanwhile. */
  readonly silentMs: number;
  /** An address that is left alone is tried again after so long. */
  readonly tryAgainMs: number;
}

/** What a process waits for. */
export const PATIENCE: Patience = { silentMs: 10_000, tryAgainMs: 10_000 };

/** So many exchanges lost in a row, with no answer between, leave an address alone. */
const MOST_LOST = 5;

/**
 * Leaves an address alone that does not answer. Any answer, however late and
 * whatever it says, is a sign of life; time that runs out is none of death
 * while others are answered: that platform is slow, and not silent. Half open,
 * one exchange tries the address while the rest are refused at once.
 */
export class Breaker {
  readonly #patience: Patience;
  readonly #now: () => number;
  #lost = 0;
  #heardAt = Number.NEGATIVE_INFINITY;
  #leftAloneAt: number | undefined;
  #probing = false;

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(patience: Patience, now: () => number = () => performance.now()) {
    this.#patience = patience;
    this.#now = now;
  }

  /** Begins an exchange; after `wait` none is begun. */
  enter(): Entry {
    if (this.#leftAloneAt === undefined) return "go";
    if (this.#probing || this.#now() - this.#leftAloneAt < this.#patience.tryAgainMs) return "wait";
    this.#probing = true;
    return "probe";
  }

  /** The platform answered. */
  heard(): void {
    this.#lost = 0;
    this.#heardAt = this.#now();
    this.#leftAloneAt = undefined;
    this.#probing = false;
  }

  /** The exchange was lost. */
  lost(entry: Entry): void {
    this.#lost++;
    if (entry === "probe") this.#probing = false;
    if (entry === "probe" || this.#lost >= MOST_LOST) this.#leftAloneAt = this.#now();
  }

  /** Time ran out for an exchange that began at `since`; says whether the platform was silent all the while. */
  ranOut(entry: Entry, since: number): "slow" | "silent" {
    const isSilent = this.#heardAt < since;
    if (isSilent && this.#now() - since >= this.#patience.silentMs) this.lost(entry);
    else this.ended(entry);
    return isSilent ? "silent" : "slow";
  }

  /** The exchange ended with no sign of the platform: its caller left, or had little time. */
  ended(entry: Entry): void {
    if (entry === "probe") this.#probing = false;
  }
}
