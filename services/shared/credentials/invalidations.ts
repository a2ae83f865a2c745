/** What auth said, and when in the order of events it said so. */
export interface Attested {
  /** "" where no API key was presented. */
  readonly keyId: string;
  readonly userId: string;
  /** The service account that acts; absent where none does. */
  readonly accountId?: string | undefined;
  /** The last event that auth had taken account of. */
  readonly seq: number;
}

/**
 * What the events since have made of something attested: it is valid, revoked
 * for ever, or stale, so that auth has to be asked again.
 */
export type Validity = "valid" | "revoked" | "stale";

/** Remembers what events said, for as long as anything older than them can still turn up. */
export interface Invalidations {
  validityOf(attested: Attested): Validity;
  /** Everything by this key is revoked. */
  revokeKey(keyId: string, seq: number): void;
  /** What was attested of this user before the event is stale. */
  changeUser(userId: string, seq: number): void;
  /** Everything attested before this event is stale. */
  reset(seq: number): void;
}

/** An assertion lives five minutes, an answer in flight seconds; twice that is remembered. */
const REMEMBERED_MS = 10 * 60_000;

interface Mark {
  readonly seq: number;
  readonly at: number;
}

/** @param now milliseconds of a monotonic clock. */
export function createInvalidations(now: () => number = () => performance.now()): Invalidations {
  const keys = new Map<string, Mark>();
  const users = new Map<string, Mark>();
  let oldest = 0;

  function mark(marks: Map<string, Mark>, id: string, seq: number): void {
    const at = now();
    marks.delete(id);
    marks.set(id, { seq, at });
    // Insertion order is age; what is left in front is the oldest.
    for (const [first, { at: since }] of marks) {
      if (at - since < REMEMBERED_MS) break;
      marks.delete(first);
    }
  }

  return {
    validityOf({ keyId, userId, accountId, seq }) {
      if (keyId !== "" && keys.has(keyId)) return "revoked";
      if (accountId !== undefined && seq < (users.get(accountId)?.seq ?? 0)) return "stale";
      return seq < oldest || seq < (users.get(userId)?.seq ?? 0) ? "stale" : "valid";
    },
    revokeKey: (keyId, seq) => mark(keys, keyId, seq),
    changeUser: (userId, seq) => mark(users, userId, seq),
    reset(seq) {
      oldest = seq;
    },
  };
}
