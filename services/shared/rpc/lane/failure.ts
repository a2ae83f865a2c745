import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, contentTypeUnaryJson, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { deadlineExceeded } from "../errors.js";

/** Headers that say how an answer is written, and not what a method says with its error. */
const OF_HTTP: ReadonlySet<string> = new Set([
  ...["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"],
]);

/** An error as an answer of HTTP. */
export interface Failure {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** An error, as a unary call of the Connect protocol has it. */
export function failureOf(error: ConnectError): Failure {
  const headers: [string, string][] = [["content-type", contentTypeUnaryJson]];
  error.metadata.forEach((value, name) => {
    if (!OF_HTTP.has(name)) headers.push([name, value]);
  });
  return { status: codeToHttpStatus(error.code), headers, body: bytesOf(error) };
}

function bytesOf(error: ConnectError): Uint8Array {
  try {
    return errorToJsonBytes(error, undefined);
  } catch {
    // A detail that cannot be written: what throws here would end the process.
    return errorToJsonBytes(new ConnectError(error.rawMessage, error.code), undefined);
  }
}

/**
 * The error of a call that failed. What a fault of ours says is not for callers; the chain has it in the log. A
 * method that was stopped at its deadline may say no more than that it was stopped.
 */
export function callError(error: unknown, deadline: number | undefined): ConnectError {
  if (error instanceof ConnectError) return error;
  if (deadline !== undefined && deadline <= Date.now()) return deadlineExceeded("the deadline passed", error);
  return new ConnectError("internal error", Code.Internal, undefined, undefined, error);
}
