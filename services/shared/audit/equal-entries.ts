import type { AuditEntry } from "./entry.js";

/** Entries that are counted at a time. */
const COUNTED = 1_000;

interface Counted {
  readonly entry: AuditEntry;
  readonly until: number;
  again: number;
}

/** Counts equal entries of a time together: the first is written at once, and how many followed when the time is over. */
export class EqualEntries {
  readonly #counted = new Map<string, Counted>();
  readonly #togetherMs: number;
  readonly #write: (entry: AuditEntry) => void;

  constructor(togetherMs: number, write: (entry: AuditEntry) => void) {
    this.#togetherMs = togetherMs;
    this.#write = write;
  }

  note(entry: AuditEntry): void {
    const name = `${entry.userId} ${entry.keyId} ${entry.serviceAccount} ${entry.action} ${entry.outcome}`;
    const now = performance.now();
    const known = this.#counted.get(name);
    if (known !== undefined && known.until > now) {
      known.again++;
      return;
    }
    this.settle(now);
    this.#counted.set(name, { entry, until: now + this.#togetherMs, again: 0 });
    this.#write(entry);
  }

  /** Writes how many followed where the time is over, or where others need the place. */
  settle(now: number): void {
    for (const [name, one] of this.#counted) {
      if (one.until > now && this.#counted.size <= COUNTED) break;
      this.#counted.delete(name);
      if (one.again > 0) this.#write({ ...one.entry, count: one.again });
    }
  }
}
