import type { Session } from "./session.js";

/** A flag of a verb; all take a value but switches. */
export interface Flag {
  readonly doc: string;
  readonly required?: boolean;
  /** Takes no value. */
  readonly isSwitch?: boolean;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
}

/** An argument by its place. */
export interface Argument {
  readonly name: string;
  readonly doc: string;
  readonly choices?: readonly string[];
  /** One or more of it; the last argument only. */
  readonly isMany?: boolean;
}

/** What a verb works with. */
export interface Input {
  /** By the names of the arguments; those of one that may be given several times are split by spaces. */
  readonly args: Readonly<Record<string, string>>;
  /** The same, each as a list: what is given several times may contain spaces. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly flags: Readonly<Record<string, string | undefined>>;
}

/** One verb of a noun. */
export interface Verb {
  readonly verb: string;
  readonly doc: string;
  readonly args?: readonly Argument[];
  readonly flags?: Readonly<Record<string, Flag>>;
  /** What its noun alone means. */
  readonly isDefault?: boolean;
  /** Cells are shown whole. */
  readonly isUncut?: boolean;
  /** The columns of what people see, where not all that a program gets. */
  readonly columns?: readonly string[];
  /** What people see of an answer, where neither a table nor fields would do. */
  shows?(answer: unknown): string;
  /** @returns what is shown: one value, or as they come where the verb goes on. */
  run(session: Session, input: Input): Promise<unknown> | AsyncIterable<object>;
  /** Whether what is shown is a failure: the exit code is 1. */
  hasFailed?(answer: unknown): boolean;
}

/** A noun; only the one that is named is loaded. */
export interface Noun {
  readonly noun: string;
  readonly doc: string;
  load(): Promise<readonly Verb[]>;
}
