import { Code, ConnectError } from "@connectrpc/connect";

/**
 * What follows a failure after which it is not known what the platform did: of
 * a write, that its outcome is open and how to find out; of a read, that it may
 * be repeated.
 */
export function doubtOf(read: boolean): string {
  return read ? AGAIN : UNKNOWN;
}

const AGAIN = "; try again";

/** The outcome of a write is open. */
export const UNKNOWN =
  "; whether the change was made is not known, so read before trying again and repeat it only where it is missing";

/** A write that never left. */
export const UNSENT = "; nothing was sent, so nothing was changed, and it may be tried again";

const UNCHANGED = "; nothing was changed, so it may be tried again";
const IN_PART = "; a part of the change was made before, so read before trying again";

/** Failures, and no refusals: of these it has to be said what became of a change. */
const FAILURES: ReadonlySet<Code> = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted]);

/**
 * A failure of a tool that changes something, with what became of the change
 * where its own sentence leaves that out.
 *
 * @param changed the platform took a change in this call before.
 */
export function withOutcome(error: ConnectError, changed: boolean): ConnectError {
  const { rawMessage: said } = error;
  if (!FAILURES.has(error.code) || said.includes("is not known")) return error;
  if (!changed && said.includes("nothing was")) return error;
  const told = said.endsWith(AGAIN) ? said.slice(0, -AGAIN.length) : said;
  return new ConnectError(
    `${told}${changed ? IN_PART : UNCHANGED}`,
    error.code,
    error.metadata,
    undefined,
    error.cause,
  );
}
