import type { ConnectError } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  codeToHttpStatus,
  contentTypeStreamRegExp,
  endStreamFlag,
  endStreamToJson,
  errorToJson,
} from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { contentTypeRegExp as grpcWebRegExp } from "@connectrpc/connect/protocol-grpc-web";
import { JSON_HEADERS } from "../exchange.js";
import { jsonPage, type Page } from "../route.js";

/**
 * An error of an rpc that was not begun, as its protocol writes it: a JSON body
 * with an HTTP status (Connect, unary), the end of a stream (Connect,
 * streaming), or a status in the headers (gRPC-Web, "trailers-only").
 */
export function rpcRefusal(error: ConnectError, contentType: string): Page {
  if (contentTypeStreamRegExp.test(contentType)) {
    const end = JSON.stringify(endStreamToJson(new Headers(), error, undefined));
    const body = encodeEnvelope(endStreamFlag, Buffer.from(end));
    return { status: 200, headers: ["content-type", contentType, "cache-control", "no-store"], body };
  }
  if (grpcWebRegExp.test(contentType)) {
    const status = new Headers();
    setTrailerStatus(status, error);
    return { status: 200, headers: ["content-type", contentType, ...[...status].flat()] };
  }
  const headers = [...JSON_HEADERS, ...[...error.metadata].flat()];
  return jsonPage(codeToHttpStatus(error.code), errorToJson(error, undefined), headers);
}
