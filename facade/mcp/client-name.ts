import { isObject } from "./json-rpc.js";

/** The member of `_meta` that names the client (MCP 2026-07-28, basic/versioning). */
export const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";

const MAX_NAME = 48;
const MAX_VERSION = 24;

/**
 * The name and version that a client gives for itself; "" if it gives no name. It is the
 * claim of the client, and people read it: printable ASCII alone, so that it neither
 * hides nor reorders what is shown beside it.
 */
export function clientNameOf(info: unknown): string {
  if (!isObject(info)) return "";
  const name = plain(info.name, MAX_NAME);
  return name === "" ? "" : `${name} ${plain(info.version, MAX_VERSION)}`.trimEnd();
}

function plain(said: unknown, longest: number): string {
  // Cut before it is read: a body can hold megabytes.
  if (typeof said !== "string") return "";
  const start = said.slice(0, longest * 2).replaceAll(/[^\x20-\x7e]/g, "");
  return start.replaceAll(/ {2,}/g, " ").trim().slice(0, longest).trimEnd();
}
