import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import type { ConnectError } from "@connectrpc/connect";
import { contentTypeUnaryProto } from "@connectrpc/connect/protocol-connect";
import { ASSERTION_HEADER } from "../call.js";
import { failureOf } from "./failure.js";
import type { LaneRoute } from "./routes.js";
import { type CallHead, type CallPlace, type Lane, ServedCall } from "./served-call.js";

/** An answer of this size and more, in bytes, is written as its reader takes it. */
const PACED = 64 << 10;

/** Serves a call that has a connection for itself: a request of HTTP/1.1. */
export function serveOwn(route: LaneRoute, lane: Lane, response: HttpResponse, request: HttpRequest): void {
  // The request is gone once this returns: all that is needed of it is taken here.
  const call = new ServedCall(route, lane, new OwnPlace(response), headOf(request));
  response.onAborted(() => call.goAway());
  // It is the socket's own memory.
  response.onData((piece, isLast) => call.take(Buffer.from(new Uint8Array(piece)), isLast));
  call.begin();
}

function headOf(request: HttpRequest): CallHead {
  const length = request.getHeader("content-length");
  return {
    assertion: request.getHeader(ASSERTION_HEADER),
    authorization: request.getHeader("authorization"),
    traceparent: request.getHeader("traceparent"),
    encoding: request.getHeader("content-encoding"),
    timeout: request.getHeader("connect-timeout-ms"),
    length: length === "" ? undefined : Number(length),
  };
}

class OwnPlace implements CallPlace {
  readonly #response: HttpResponse;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  answer(message: Uint8Array, done: () => void): void {
    const response = this.#response;
    response.cork(() => {
      response.writeHeader("content-type", contentTypeUnaryProto);
      write(response, message, done);
    });
  }

  refuse(error: ConnectError, closes: boolean, done: () => void): void {
    const response = this.#response;
    const { status, headers, body } = failureOf(error);
    response.cork(() => {
      response.writeStatus(`${status} ${STATUS_CODES[status] ?? ""}`);
      for (const [name, value] of headers) response.writeHeader(name, value);
      if (!closes) return void write(response, body, done);
      response.end(body, true);
      done();
    });
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }
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
