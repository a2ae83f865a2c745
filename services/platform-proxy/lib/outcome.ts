import type { ConnectError } from "@connectrpc/connect";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { aborted } from "../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../shared/rpc/write-outcome.js";

type Raise = (said: string, cause?: unknown) => ConnectError;

/** A failure in words, and what to do about it. */
export interface Passing {
  readonly said: string;
  /** What to do next, without a full stop; "" for nothing. */
  readonly advice: string;
}

/** What to do about a failure that may pass at once. */
const AGAIN = "try again";

const open = new WeakSet<ConnectError>();
const passings = new WeakMap<ConnectError, Passing>();

/** Marks the failure of a write that the platform may have made all the same. */
export function leftOpen(error: ConnectError): ConnectError {
  open.add(error);
  return error;
}

/** Whether an error was marked as one that leaves a write's outcome open. */
export function isLeftOpen(error: unknown): boolean {
  return open.has(error as ConnectError);
}

/** A failure that may pass: its message ends with what to do, which is kept apart too, since a write may not simply be repeated. */
export function passing(raise: Raise, said: string, advice: string = AGAIN, cause?: unknown): ConnectError {
  const error = raise(advice === "" ? said : `${said}; ${advice}`, cause);
  passings.set(error, { said, advice });
  return error;
}

/** The parts of the message of a failure that may pass; undefined for any other error. */
export function passingOf(error: ConnectError): Passing | undefined {
  return passings.get(error);
}

/**
 * The failure of an exchange that may have reached the platform: a read's says
 * what to do, a write's is marked as open.
 */
export function brokenOff(
  read: boolean,
  raise: Raise,
  said: string,
  { cause, advice }: { readonly cause?: unknown; readonly advice?: string } = {},
): ConnectError {
  return read ? passing(raise, said, advice, cause) : leftOpen(raise(said, cause));
}

/** The failure of a change that the platform said it made and that is not seen afterwards: it may still come. */
export function unseen(said: string): ConnectError {
  return withOutcomeSaid(aborted(said), Outcome.UNKNOWN);
}
