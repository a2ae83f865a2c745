/** How many answers one caller may leave unread. */
export interface UnreadLimits {
  /** Answers that wait for longer than `patienceMs`. */
  readonly answers: number;
  readonly patienceMs: number;
  /** Bytes of all that waits, however long. */
  readonly bytes: number;
}

/** What holds where nothing else is said. */
export const UNREAD_LIMITS: UnreadLimits = { answers: 64, patienceMs: 1_000, bytes: 16 << 20 };

/** An answer that was written and is not taken yet. */
export interface Waiting {
  /** Sets how many bytes of it wait now; 0 when the client has taken what there was. */
  holds(bytes: number): void;
  /** It has ended. */
  leave(): void;
}

interface Entry {
  readonly abandon: () => void;
  since: number;
  bytes: number;
}

/** What one caller leaves unread, that which waits longest first. */
interface Unread {
  readonly entries: Set<Entry>;
  bytes: number;
}

/**
 * Counts answers that clients do not read, such as those of HTTP/2 streams whose
 * window is 0: they hold memory, and their calls hold slots. Of a caller who leaves too
 * many, those that wait longest are abandoned.
 */
export class UnreadAnswers {
  readonly #limits: UnreadLimits;
  readonly #byCaller = new Map<string, Unread>();

  constructor(limits: UnreadLimits = UNREAD_LIMITS) {
    this.#limits = limits;
  }

  /** Begins to count an answer. @param abandon ends its call. */
  add(caller: string, abandon: () => void): Waiting {
    const entry: Entry = { abandon, since: 0, bytes: 0 };
    return {
      holds: (bytes) => {
        this.#remove(caller, entry);
        if (bytes > 0) this.#keep(caller, entry, bytes);
      },
      leave: () => this.#remove(caller, entry),
    };
  }

  #keep(caller: string, entry: Entry, bytes: number): void {
    entry.bytes = bytes;
    entry.since = performance.now();
    const own = this.#byCaller.get(caller) ?? { entries: new Set(), bytes: 0 };
    this.#byCaller.set(caller, own);
    own.entries.add(entry);
    own.bytes += bytes;
    const limits = this.#limits;
    const lateBefore = entry.since - limits.patienceMs;
    for (const oldest of own.entries) {
      const isTooMany = own.entries.size > limits.answers && oldest.since < lateBefore;
      // One long answer is always let through.
      if (!isTooMany && (own.bytes <= limits.bytes || own.entries.size === 1)) return;
      this.#remove(caller, oldest);
      oldest.abandon();
    }
  }

  #remove(caller: string, entry: Entry): void {
    const own = this.#byCaller.get(caller);
    if (own === undefined || !own.entries.delete(entry)) return;
    own.bytes -= entry.bytes;
    if (own.entries.size === 0) this.#byCaller.delete(caller);
  }
}
