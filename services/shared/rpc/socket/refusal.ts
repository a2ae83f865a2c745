import { Code, type ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, type UniversalServerResponse } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  contentTypeStreamRegExp,
  endStreamFlag,
  endStreamToJson,
  errorToJsonBytes,
} from "@connectrpc/connect/protocol-connect";
import { contentTypeRegExp as grpcRegExp, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { contentTypeRegExp as grpcWebRegExp } from "@connectrpc/connect/protocol-grpc-web";
import { grpcMessageOf } from "../grpc-message.js";

/**
 * An error of a call that was not begun, as its protocol writes it: a status in
 * the headers (gRPC and gRPC-Web, "trailers-only"), the end of a stream (Connect,
 * streaming), or JSON with an HTTP status (Connect, unary, and whatever else came).
 */
export function refusalOf(error: ConnectError, contentType: string): UniversalServerResponse {
  if (grpcRegExp.test(contentType) || grpcWebRegExp.test(contentType)) {
    const header = new Headers({ "content-type": contentType });
    setTrailerStatus(header, error);
    if (grpcRegExp.test(contentType)) header.set("grpc-message", grpcMessageOf(error.rawMessage));
    return { status: 200, header };
  }
  if (contentTypeStreamRegExp.test(contentType)) {
    const end = Buffer.from(JSON.stringify(endStreamToJson(new Headers(), error, undefined)));
    const header = new Headers({ "content-type": contentType });
    return { status: 200, header, body: one(encodeEnvelope(endStreamFlag, end)) };
  }
  const status = error.code === Code.Unimplemented ? 404 : codeToHttpStatus(error.code);
  const body = errorToJsonBytes(error, undefined);
  const header = new Headers({ "content-type": "application/json", "content-length": String(body.byteLength) });
  return { status, header, body: one(body) };
}

async function* one(chunk: Uint8Array): AsyncIterable<Uint8Array> {
  yield chunk;
}
