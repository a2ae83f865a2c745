import { Code, ConnectError } from "@connectrpc/connect";
import { EXIT, Failure } from "./failures.js";

const EXIT_OF_CODE: Readonly<Partial<Record<Code, number>>> = {
  [Code.InvalidArgument]: EXIT.usage,
  [Code.OutOfRange]: EXIT.usage,
  [Code.Unauthenticated]: EXIT.denied,
  [Code.PermissionDenied]: EXIT.denied,
  [Code.NotFound]: EXIT.notFound,
  [Code.AlreadyExists]: EXIT.conflict,
  [Code.FailedPrecondition]: EXIT.conflict,
  [Code.Aborted]: EXIT.conflict,
  [Code.Unavailable]: EXIT.unavailable,
  [Code.DeadlineExceeded]: EXIT.unavailable,
  [Code.ResourceExhausted]: EXIT.unavailable,
};
/** What Node says where nothing listens, or nobody knows the name. */
const UNREACHED = new Set(["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EHOSTUNREACH"]);

/** A failure in words for people, and what to exit with. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (isUnreached(error)) {
    return new Failure("the service does not answer: is it running at that URL?", EXIT.unavailable);
  }
  if (error instanceof ConnectError) return new Failure(error.rawMessage, EXIT_OF_CODE[error.code] ?? EXIT.failed);
  return new Failure((error as Error).message);
}

/** Whether nobody answered where the service should be. */
export function isUnreached(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (UNREACHED.has((at as NodeJS.ErrnoException).code ?? "")) return true;
  }
  return false;
}
