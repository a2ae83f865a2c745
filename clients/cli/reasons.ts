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
/** What Node says of a certificate that it does not accept. */
const CERTIFICATE = /CERT|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/;

/** A failure in words for people, and what to exit with. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const cut = connectionFailureOf(error);
  if (cut !== undefined && UNREACHED.has(cut.code)) {
    const what = `the service does not answer (${cut.message})`;
    return new Failure(`${what}: see that it runs and that its address leads to it, or give --url`, EXIT.unavailable);
  }
  if (cut !== undefined) {
    const what = `the certificate at the address of the service is not accepted (${cut.message})`;
    return new Failure(
      `${what}: if your own authority signed it, set NODE_EXTRA_CA_CERTS to the file of that authority`,
    );
  }
  if (error instanceof ConnectError) return new Failure(error.rawMessage, EXIT_OF_CODE[error.code] ?? EXIT.failed);
  return new Failure((error as Error).message);
}

/** Whether nobody answered where the service should be. */
export function isUnreached(error: unknown): boolean {
  return UNREACHED.has(connectionFailureOf(error)?.code ?? "");
}

/** What ended a connection before an answer, by Node's code; undefined for any other failure. */
function connectionFailureOf(error: unknown): { readonly code: string; readonly message: string } | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code = "", message } = at as NodeJS.ErrnoException;
    // Some of Node's connection errors have no message of their own.
    if (UNREACHED.has(code) || CERTIFICATE.test(code)) return { code, message: message || code };
  }
  return undefined;
}
