import { Code, ConnectError } from "@connectrpc/connect";

// One class crosses every boundary: ConnectError. These say in one word which
// code is meant; messages are written for the caller, lower case, without
// names of our internals, and the cause is for the log.

type Raise = (message: string, cause?: unknown) => ConnectError;

const raise =
  (code: Code): Raise =>
  (message, cause) =>
    new ConnectError(message, code, undefined, undefined, cause);

export const invalidArgument = raise(Code.InvalidArgument);
export const unauthenticated = raise(Code.Unauthenticated);
export const permissionDenied = raise(Code.PermissionDenied);
export const notFound = raise(Code.NotFound);
export const alreadyExists = raise(Code.AlreadyExists);
export const failedPrecondition = raise(Code.FailedPrecondition);
export const aborted = raise(Code.Aborted);
export const resourceExhausted = raise(Code.ResourceExhausted);
export const unavailable = raise(Code.Unavailable);
export const deadlineExceeded = raise(Code.DeadlineExceeded);
export const unimplemented = raise(Code.Unimplemented);
export const internal = raise(Code.Internal);
export const canceled = raise(Code.Canceled);
