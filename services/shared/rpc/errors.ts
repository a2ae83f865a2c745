import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";

// One class crosses every boundary: ConnectError. These say in one word which
// code is meant; messages are written for the caller, lower case, without
// names of our internals, and the cause is for the log.

type Raise = (message: string, cause?: unknown) => ConnectError;

const raise =
  (code: Code): Raise =>
  (message, cause) =>
    // What is quoted may be cut in the middle of a character, which the field of gRPC cannot hold.
    new ConnectError(message.toWellFormed(), code, undefined, undefined, cause);

/** The request itself is wrong, whatever the state of the system. */
export const invalidArgument = raise(Code.InvalidArgument);
/** Nobody is known to call: no credential, or not a valid one. */
export const unauthenticated = raise(Code.Unauthenticated);
/** The caller is known and may not. */
export const permissionDenied = raise(Code.PermissionDenied);
/** There is no such thing, or none that the caller can see. */
export const notFound = raise(Code.NotFound);
/** What was to be made is there. */
export const alreadyExists = raise(Code.AlreadyExists);
/** The system is not in the state that the call needs; to repeat it changes nothing. */
export const failedPrecondition = raise(Code.FailedPrecondition);
/** Somebody else changed the same thing at the same time: read again, then repeat. */
export const aborted = raise(Code.Aborted);
/** A limit is reached; it may pass. */
export const resourceExhausted = raise(Code.ResourceExhausted);
/** Something needed does not answer at the moment: repeat later. */
export const unavailable = raise(Code.Unavailable);
/** The time that the caller gave is over. */
export const deadlineExceeded = raise(Code.DeadlineExceeded);
/** There is no such operation here. */
export const unimplemented = raise(Code.Unimplemented);
/** A fault of ours. */
export const internal = raise(Code.Internal);
/** The caller went away. */
export const canceled = raise(Code.Canceled);

/** The error that a thread threw: of an error only its name and words leave a thread (ConnectError: "[code] words"). */
export function fromThread(error: Error): Error {
  if (error instanceof ConnectError) return error;
  const [, word = "", words = ""] = /^\[(\w+)\] (.*)$/s.exec(error.message) ?? [];
  const code = error.name === ConnectError.name ? codeFromString(word) : undefined;
  return code === undefined ? error : new ConnectError(words, code);
}
