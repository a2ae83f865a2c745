import { randomUUID } from "node:crypto";

/** The kinds of requests: a list of tools, a call, and a call that asks for progress. */
export const KINDS = ["list", "call", "progress"] as const;
/** One of the kinds of requests. */
export type Kind = (typeof KINDS)[number];
/** The eras of the protocol: without a handshake, and with one. */
export const ERAS = ["2026-07-28", "2025-11-25"] as const;
/** One of the eras, by its newest revision. */
export type Era = (typeof ERAS)[number];

/** A tool with its arguments. */
export interface ToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A message that is sent again and again, each time with another id. */
export interface Message {
  /** In lower case; those of the connection are added. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body with an id, which is its progress token too. */
  bodyOf(id: number): string;
}

const META = "io.modelcontextprotocol";
/** What the generator calls itself. */
export const CLIENT_INFO = { name: "sallyport-load", version: "1" };

const ENVELOPE = {
  [`${META}/protocolVersion`]: "2026-07-28",
  [`${META}/clientInfo`]: CLIENT_INFO,
  [`${META}/clientCapabilities`]: {},
};

/** The message of a kind in an era. */
export function messageOf(kind: Kind, era: Era, call: ToolCall): Message {
  if (kind === "list") return message(era, "tools/list", {});
  const params = { name: call.tool, arguments: call.arguments };
  return kind === "call" ? message(era, "tools/call", params) : message(era, "tools/call", params, true);
}

/** The first message of the era 2025-11-25. */
export const INITIALIZE: Message = message("2025-11-25", "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: CLIENT_INFO,
});

/** The second one, a notification. */
export const INITIALIZED: Message = {
  headers: { "mcp-protocol-version": "2025-11-25" },
  bodyOf: () => JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
};

function message(era: Era, method: string, params: Readonly<Record<string, unknown>>, asksProgress = false): Message {
  const id = randomUUID();
  const isModern = era === "2026-07-28";
  const meta = { ...(isModern && ENVELOPE), ...(asksProgress && { progressToken: id }) };
  const body = {
    jsonrpc: "2.0",
    id,
    method,
    params: { ...params, ...(Object.keys(meta).length > 0 && { _meta: meta }) },
  };
  // Cut once where the id is: making JSON for each request would cost more than sending it.
  const parts = JSON.stringify(body).split(`"${id}"`);
  const modern = { "mcp-method": method, ...(typeof params.name === "string" && { "mcp-name": params.name }) };
  return {
    headers: { "mcp-protocol-version": era, ...(isModern && modern) },
    bodyOf: (own) => parts.join(String(own)),
  };
}
