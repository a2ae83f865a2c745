import type { Session } from "./session.js";

/** A flag of a command; all take a value but switches. */
export interface Flag {
  readonly doc: string;
  readonly required?: boolean;
  /** Takes no value. */
  readonly isSwitch?: boolean;
}

/** What a command works with. */
export interface Input {
  /** By the names of the command's `positionals`. */
  readonly args: Readonly<Record<string, string>>;
  readonly flags: Readonly<Record<string, string | undefined>>;
}

/** One `NOUN VERB` of the administration client. */
export interface Command {
  readonly noun: string;
  readonly verb: string;
  readonly doc: string;
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, Flag>>;
  /** @returns what goes to standard output as JSON. */
  run(session: Session, input: Input): Promise<unknown>;
}
