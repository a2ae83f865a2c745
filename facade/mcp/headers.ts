import type { HeaderArgument } from "../../services/shared/tools/tools.js";
import { HEADER_MISMATCH, isObject, RpcError } from "./json-rpc.js";

// Headers that repeat parts of the body for gateways to route by
// (MCP 2026-07-28, basic/transports/streamable-http, "Server Validation").

/** @throws RpcError -32020, in the words of the specification. */
export function mismatch(reason: string): RpcError {
  return new RpcError(HEADER_MISMATCH, `Header mismatch: ${reason}`, 400);
}

const SENTINEL = "=?base64?";
const CANONICAL_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const PRINTABLE = /^[\t\x20-\x7e]*$/;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Decodes a header value: =?base64?…?= as UTF-8, anything else as it is; undefined where it cannot be decoded. */
export function decodeHeader(value: string): string | undefined {
  if (!PRINTABLE.test(value)) return undefined;
  if (!value.startsWith(SENTINEL) || !value.endsWith("?=") || value.length < SENTINEL.length + 2) return value;
  const encoded = value.slice(SENTINEL.length, -2);
  if (!CANONICAL_BASE64.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Checks that Mcp-Name says what the body says. */
export function checkName(header: string | undefined, inBody: unknown): void {
  if (header === undefined) throw mismatch("the required header Mcp-Name is missing");
  const name = decodeHeader(header);
  if (name === undefined) throw mismatch("Mcp-Name cannot be decoded");
  if (typeof inBody === "string" && name !== inBody) throw mismatch("Mcp-Name differs from the name in the body");
}

/** Checks the Mcp-Param-* headers of a tool: required exactly where the argument is given. */
export function checkParams(
  declared: readonly HeaderArgument[],
  args: unknown,
  headers: Readonly<Record<string, string | undefined>>,
): void {
  for (const { header, path } of declared) {
    const given = valueAt(args, path);
    const value = headers[`mcp-param-${header.toLowerCase()}`];
    if (given === undefined || given === null) {
      if (value !== undefined) throw mismatch(`the header Mcp-Param-${header} is sent, but the argument is missing`);
      continue;
    }
    if (value === undefined) throw mismatch(`the required header Mcp-Param-${header} is missing`);
    const text = decodeHeader(value);
    if (text === undefined) throw mismatch(`Mcp-Param-${header} cannot be decoded`);
    const same = typeof given === "number" ? text.trim() !== "" && Number(text) === given : text === String(given);
    if (!same) throw mismatch(`Mcp-Param-${header} does not match the argument`);
  }
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const name of path) {
    if (!isObject(value)) return undefined;
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}
