/** What a remote did: it kept us waiting, or it answered what nobody should have to read. */
export type Misbehaviour = "slow" | "harmful";

/**
 * A remote passed a bound, or ended the thread that read its answer. It is left
 * out for a while, and the call is not sent again the same way.
 */
export class MisbehavedError extends Error {
  override name: string;

  constructor(
    message: string,
    readonly misbehaviour: Misbehaviour = "harmful",
  ) {
    super(message);
    this.name = NAMES[misbehaviour];
  }
}

const NAMES = { slow: "SlowError", harmful: "HarmfulError" } as const;

/**
 * The process was killed by somebody else before it answered: nothing is known of the call, and nothing is said
 * against the remote.
 */
export class KilledError extends Error {
  override name = "KilledError";

  constructor() {
    super("the process that called it was killed before it answered");
  }
}

/** The name of the error that a thread throws where an address is closed. */
export const REFUSED_ADDRESS = "RefusedAddressError";

/** The error that was thrown apart: only its name and message come back. */
export function misbehavedFrom(error: Error): Error {
  if (error.name === NAMES.slow) return new MisbehavedError(error.message, "slow");
  if (error.name === NAMES.harmful) return new MisbehavedError(error.message, "harmful");
  return error;
}
