import type { MessageShape } from "@bufbuild/protobuf";
import type { SecretHeaderSchema } from "#proto/core/v1/mcp_server_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { quoted } from "../../../shared/rpc/quoted.js";
import { checkHeader } from "../../objects/header.js";
import { endOf } from "../../objects/secrets.js";
import type { Writer } from "../../objects/writer.js";
import type { McpServerRecord, SecretHeaderRecord } from "./record.js";

const MAX_HEADERS = 20;

/** What changes of where an MCP server is and of its headers. */
export interface HeadersChange {
  readonly url: string;
  readonly put: readonly MessageShape<typeof SecretHeaderSchema>[];
  readonly remove: readonly string[];
}

/** The field of a header among what is sealed of an MCP server. */
export function sealedField(name: string): string {
  return `headers.${name.toLowerCase()}`;
}

/**
 * The headers of an MCP server after some were put and some removed. Their
 * values were given for one host, and whoever may change the server does not take
 * them to another one.
 *
 * @throws ConnectError invalid_argument for one that cannot be sent, is not there to remove, or would go elsewhere.
 */
export function headersAfter(
  current: Pick<McpServerRecord, "url" | "headers">,
  { url, put, remove }: HeadersChange,
  writer: Writer,
): SecretHeaderRecord[] {
  const headers = new Map(current.headers.map((header) => [header.name.toLowerCase(), header]));
  for (const name of remove) {
    if (!headers.delete(name.toLowerCase()))
      throw invalidArgument(`the MCP server has no header ${quoted(name)} to remove`);
  }
  const given = new Set(put.map(({ name }) => name.toLowerCase()));
  const kept = [...headers.keys()].filter((name) => !given.has(name));
  if (kept.length > 0 && new URL(url).origin !== new URL(current.url).origin)
    throw invalidArgument(`the new url has another host: put or remove each header again: ${kept.join(", ")}`);
  for (const { name, value } of put) {
    checkHeader(name, value);
    headers.set(name.toLowerCase(), { name, sealed: writer.seal(value, sealedField(name)), ends_with: endOf(value) });
  }
  if (headers.size > MAX_HEADERS) throw invalidArgument(`an MCP server can have at most ${MAX_HEADERS} headers`);
  return [...headers.values()];
}
