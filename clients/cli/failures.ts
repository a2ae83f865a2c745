/** The exit codes of the administration client: they are API. */
export const EXIT = {
  /** It is done. */
  done: 0,
  /** It failed for a reason that is none of those below: a tool's own refusal, a fault of the service. */
  failed: 1,
  /** The command line, or what it says, is not right. */
  usage: 2,
  /** Not signed in, or not allowed. */
  denied: 3,
  /** What was named is not there. */
  notFound: 4,
  /** It does not fit what is there: a name that is taken, the last administrator. */
  conflict: 5,
  /** The service does not answer, or not in time, or is too busy: try again. */
  unavailable: 6,
} as const;

/** A failure whose message is for people, with the exit code that it ends in. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** A command line that cannot be carried out as it stands; its message says what to change. */
export class UsageError extends Failure {
  constructor(message: string) {
    super(message, EXIT.usage);
  }
}
