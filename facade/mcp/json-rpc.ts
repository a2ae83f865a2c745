import type { JsonObject } from "@bufbuild/protobuf";

/** The id of a request: a string or an integer. */
export type RequestId = string | number;

/** A JSON-RPC request, as far as it is known to be one. */
export interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
}

/** The body is not JSON (JSON-RPC 2.0 section 5.1). */
export const PARSE_ERROR = -32700;
/** The body is no request (JSON-RPC 2.0 section 5.1). */
export const INVALID_REQUEST = -32600;
/** There is no such method (JSON-RPC 2.0 section 5.1). */
export const METHOD_NOT_FOUND = -32601;
/** The parameters do not fit the method; also a tool that is not there (JSON-RPC 2.0 section 5.1). */
export const INVALID_PARAMS = -32602;
/** A fault of the service (JSON-RPC 2.0 section 5.1). */
export const INTERNAL_ERROR = -32603;
/** A header contradicts the body, or a required one is missing (MCP 2026-07-28). */
export const HEADER_MISMATCH = -32020;
/** The request needs a capability that the client has not declared (MCP 2026-07-28). */
export const MISSING_CAPABILITY = -32021;
/** The version is not served here (MCP 2026-07-28). */
export const UNSUPPORTED_VERSION = -32022;

/** An answer that is a JSON-RPC error, with the HTTP status that goes with it in the modern era. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly status: 200 | 400 | 403 | 404 | 429 | 503 = 200,
    readonly data?: JsonObject,
    /** Further HTTP headers, names and values by turns. */
    readonly headers: readonly string[] = [],
  ) {
    super(message);
  }
}

/** The text of a JSON-RPC error; the id is left out where it could not be read. */
export function errorText(id: RequestId | undefined, code: number, message: string, data?: JsonObject): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    ...(id !== undefined && { id }),
    error: { code, message, ...(data !== undefined && { data }) },
  });
}

/** The text of a JSON-RPC response whose result is JSON text already. */
export function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Longest id or progress token, in characters: both are repeated to who sent them. */
export const MAX_ID_LENGTH = 8_192;

/** Whether a value can be the id of a request; null is none, nor is a number that JSON readers round (MCP 2026-07-28, basic, "Requests"). */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" ? value.length <= MAX_ID_LENGTH : Number.isSafeInteger(value);
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The id of the request in a body that is read for nothing else; undefined where there is none to read. */
export function idOf(body: string | Buffer | undefined): RequestId | undefined {
  if (typeof body !== "string") return undefined;
  try {
    return idIn(JSON.parse(body));
  } catch {
    return undefined;
  }
}

/** The id of a message; undefined where it has none that can be repeated. */
export function idIn(message: unknown): RequestId | undefined {
  return isObject(message) && isRequestId(message.id) ? message.id : undefined;
}
