import type { JsonObject } from "@bufbuild/protobuf";

/** The id of a request: a string or an integer. */
export type RequestId = string | number;

/** A JSON-RPC request, as far as it is known to be one. */
export interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
}

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** A header contradicts the body, or a required one is missing (MCP 2026-07-28). */
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** An answer that is a JSON-RPC error, with the HTTP status that goes with it in the modern era. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly status: 200 | 400 | 403 | 404 = 200,
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

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isInteger(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The id of the request in a body that is read for nothing else; undefined where there is none to read. */
export function idOf(body: string | undefined): RequestId | undefined {
  if (body === undefined) return undefined;
  try {
    const message: unknown = JSON.parse(body);
    return isObject(message) && isRequestId(message.id) ? message.id : undefined;
  } catch {
    return undefined;
  }
}
