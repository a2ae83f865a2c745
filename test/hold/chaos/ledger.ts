/** A person of the load. */
export interface Person {
  readonly email: string;
  readonly key: string;
  /** With which the names of all that is this person's begin. */
  readonly mark: string;
}

/** A write, and what its client was told of it. */
export interface Write {
  readonly person: Person;
  readonly name: string;
  readonly trace: string;
  readonly outcome: "done" | "unchanged" | "partly" | "unknown";
  /** Of what was made, if it was told. */
  readonly id: string | undefined;
  /** The answer as it came, where it was a failure. */
  readonly answer: string;
}

/** A run that was asked for, under a request_id that is its name. */
export interface Triggered {
  readonly person: Person;
  readonly name: string;
  /** Undefined while nobody has answered. */
  id: string | undefined;
}

/** The value of an object that one client alone changes, one number after another. */
export interface Register {
  readonly id: string;
  readonly person: Person;
  /** The last number that was acknowledged. */
  done: number;
  /** The last number that was sent, and may have been written. */
  sent: number;
}

/** What the clients of a schedule did, and what was wrong with what they were told. */
export class Ledger {
  readonly problems = new Set<string>();
  readonly counts = new Map<string, number>();
  readonly writes: Write[] = [];
  readonly runs: Triggered[] = [];
  readonly registers: Register[] = [];
  /** Tokens of keys whose revocation was acknowledged. */
  readonly revoked: string[] = [];
  /** How often the tool of each run was executed. */
  readonly executed = new Map<string, number>();

  readonly problem = (what: string): void => void this.problems.add(what);
  readonly count = (what: string): void => void this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
}
