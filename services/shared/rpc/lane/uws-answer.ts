import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  codeToHttpStatus,
  contentTypeUnaryJson,
  contentTypeUnaryProto,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { deadlineExceeded } from "../errors.js";

/** An answer of this size and more, in bytes, is written as its reader takes it. */
const PACED = 64 << 10;
/** Headers that say how an answer is written, and not what a method says with its error. */
const OF_HTTP: ReadonlySet<string> = new Set([
  ...["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"],
]);

/** Answers with a message. @param done is called when all of it is written. */
export function answer(response: HttpResponse, message: Uint8Array, done: () => void): void {
  response.cork(() => {
    response.writeHeader("content-type", contentTypeUnaryProto);
    write(response, message, done);
  });
}

/**
 * Answers with an error, as a unary call of the Connect protocol has it.
 *
 * @param closes the connection: more of the request may come than is worth waiting for.
 */
export function answerError(response: HttpResponse, error: ConnectError, closes: boolean, done: () => void): void {
  const body = bytesOf(error);
  const status = codeToHttpStatus(error.code);
  response.cork(() => {
    response.writeStatus(`${status} ${STATUS_CODES[status] ?? ""}`).writeHeader("content-type", contentTypeUnaryJson);
    error.metadata.forEach((value, name) => {
      if (!OF_HTTP.has(name)) response.writeHeader(name, value);
    });
    if (!closes) return void write(response, body, done);
    response.end(body, true);
    done();
  });
}

function write(response: HttpResponse, body: Uint8Array, done: () => void): void {
  if (body.length < PACED) {
    response.end(body);
    return void done();
  }
  const [, isDone] = response.tryEnd(body, body.length);
  if (isDone) return void done();
  response.onWritable((offset) => {
    const [isTaken, isAll] = response.tryEnd(body.subarray(offset), body.length);
    if (isAll) done();
    return isTaken;
  });
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
