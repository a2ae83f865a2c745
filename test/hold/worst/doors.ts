import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import type { Tool } from "../../../services/shared/tools/tools.js";
import type { Program } from "../../support/program.js";

/** After that long the client leaves: some tools follow for a minute what they began, whatever their values are. */
const PATIENCE_MS = 4_000;

/** What a call was answered. */
export interface Answer {
  /** "ok", how it was refused, or "left" where it went on for too long to wait. */
  readonly code: string;
  /** What was said of a refusal. */
  readonly said: string;
  /** The result of a call that was answered. */
  readonly result?: unknown;
}

/** Calls a tool at its MCP endpoint. */
export async function callTool({ baseUrl }: Program, key: string, tool: Tool, args: JsonObject): Promise<Answer> {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool.name, arguments: args } };
  const response = await post(`${baseUrl}/mcp/${tool.server}`, key, body);
  const text = await response.text();
  const last = text.startsWith("event:") ? text.slice(text.lastIndexOf("data: ") + 6) : text;
  const { result, error } = JSON.parse(last) as {
    result?: { isError?: boolean; structuredContent?: unknown; content?: [{ text?: string }] };
    error?: { code: number; message: string };
  };
  if (error !== undefined) return { code: String(error.code), said: error.message };
  if (result?.isError) return { code: "isError", said: result.content?.[0]?.text ?? "" };
  return { code: "ok", said: "", result: result?.structuredContent };
}

/** Calls an rpc as JSON of Connect at the façade. */
export async function callRpc(
  { baseUrl }: Program,
  key: string,
  method: DescMethod,
  args: JsonObject,
): Promise<Answer> {
  const response = await post(`${baseUrl}/rpc/${method.parent.typeName}/${method.name}`, key, args);
  const result = (await response.json()) as { code?: string; message?: string };
  if (response.status === 200) return { code: "ok", said: "", result };
  return { code: result.code ?? String(response.status), said: result.message ?? "" };
}

function post(url: string, key: string, body: object): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
}
