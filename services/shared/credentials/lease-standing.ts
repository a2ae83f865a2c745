/** What was vouched for, and when in the order of events. */
export interface Vouched {
  /** "" where no API key was presented. */
  readonly keyId: string;
  readonly userId: string;
  /** The last event that the one who vouched had taken account of. */
  readonly seq: number;
}

/**
 * How something vouched for stands after the events since: good, dead for
 * ever, or old, so that auth has to be asked again.
 */
export type Standing = "good" | "dead" | "old";

/** Remembers what events said, for as long as anything older than them can still turn up. */
export interface Standings {
  of(vouched: Vouched): Standing;
  killKey(keyId: string, seq: number): void;
  touchUser(userId: string, seq: number): void;
  /** Everything vouched for before this event is old. */
  floor(seq: number): void;
}

/** An assertion lives five minutes, an answer in flight seconds; twice that is remembered. */
const REMEMBERED_MS = 10 * 60_000;

interface Mark {
  readonly seq: number;
  readonly at: number;
}

export function createStandings(now: () => number = () => performance.now()): Standings {
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
    of({ keyId, userId, seq }) {
      if (keyId !== "" && keys.has(keyId)) return "dead";
      return seq < oldest || seq < (users.get(userId)?.seq ?? 0) ? "old" : "good";
    },
    killKey: (keyId, seq) => mark(keys, keyId, seq),
    touchUser: (userId, seq) => mark(users, userId, seq),
    floor(seq) {
      oldest = seq;
    },
  };
}
