import { gzipSync } from "node:zlib";
import { changedBytes, changedJson, type Random } from "./random.js";

/** The answers of a remote MCP server that nothing is wrong with. */
export const WELL: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "f", version: "1" } },
  "tools/list": {
    tools: [
      { name: "find", description: "Finds.", inputSchema: { type: "object", properties: {} } },
      {
        ...{ name: "add", title: "Add", annotations: { readOnlyHint: false, destructiveHint: false } },
        inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
        outputSchema: { type: "object", properties: { id: { type: "integer" } } },
      },
    ],
  },
  "tools/call": {
    content: [
      { type: "text", text: "found" },
      { type: "resource", resource: { uri: "a:b", text: "more" } },
      { type: "image", data: "AAAA", mimeType: "image/png" },
    ],
    structuredContent: { found: 1 },
    isError: false,
  },
};

/** An answer as it goes over the socket. */
export interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Buffer[];
  /** The connection is broken off instead of ended. */
  readonly isBroken: boolean;
}

/** What servers say beside their answer. */
const BESIDE: readonly object[] = [
  { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "a" } },
  { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
  { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } },
  { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
  { jsonrpc: "2.0", id: "p", method: "ping" },
  { jsonrpc: "2.0", id: 1, method: "roots/list" },
  { jsonrpc: "2.0", id: 2, method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
  { jsonrpc: "2.0", id: 9_999, result: {} },
];
const STATUSES = [201, 202, 203, 204, 206, 301, 302, 307, 308, 400, 401, 403, 404, 405, 406, 410, 429, 500, 502, 503];
const TYPES = ["text/html", "application/json; charset=utf-16", "text/event-stream;", "application/jsonl", "x", "*/*"];

/** The answer that is right, in one of the ways in which servers send it. */
export function wellAnswer(id: unknown, method: string, random: Random): Sent {
  const answer = { jsonrpc: "2.0", id, result: WELL[method] ?? {} };
  const isStream = random.once(2);
  const beside = isStream && random.once(3) ? BESIDE.slice(0, 3).filter(() => random.once(2)) : [];
  const text = isStream ? streamOf([...beside, answer], random) : Buffer.from(JSON.stringify(answer));
  return sent(200, isStream, piecesOf(text, random), random);
}

/** An answer in which something is wrong: its values, its bytes, its frame, its status or its end. */
export function changedAnswer(id: unknown, method: string, random: Random): Sent {
  const whole = { jsonrpc: "2.0", id, result: WELL[method] ?? {} };
  const failed = { jsonrpc: "2.0", id, error: { code: -32_602, message: "no", data: [{ path: ["a"], message: "b" }] } };
  const said: object[] = [];
  while (random.once(4) && said.length < 5) said.push(random.pick(BESIDE));
  const isStream = random.once(2);
  const how = random.int(12);
  // The values of the result alone half of the time: whoever names no request any more is soon done with.
  const answer =
    how < 5
      ? { ...whole, result: changedJson(whole.result, random) }
      : how < 8
        ? changedJson(random.once(3) ? failed : whole, random)
        : random.once(8)
          ? failed
          : whole;
  const all = random.once(20) ? said : [...said, answer];
  let text = isStream
    ? streamOf(
        all.map((one) => (random.once(12) ? changedJson(one, random) : one)),
        random,
        true,
      )
    : Buffer.from(JSON.stringify(all.length === 1 || random.once(3) ? answer : all) ?? "");
  if (how === 8 || how === 9 || random.once(20)) text = changedBytes(text, random);
  const status = how === 10 && random.once(2) ? random.pick(STATUSES) : 200;
  const one = sent(status, isStream, status === 204 ? [] : piecesOf(text, random), random);
  const headers: Record<string, string> = { ...one.headers };
  if (how === 10 && random.once(2)) headers["content-type"] = random.pick(TYPES);
  if (how === 10 && random.once(4)) headers.location = random.pick(["/mcp", "http://127.0.0.1:1/", "x", "//"]);
  if (random.once(60)) headers["content-length"] = String(random.int(4_000));
  if (how !== 11 || !random.once(3)) return { ...one, headers, isBroken: how === 11 };
  const packed = gzipSync(text);
  const cut = random.once(2) ? packed.subarray(0, random.int(packed.length)) : changedBytes(packed, random);
  return { ...one, headers: { ...headers, "content-encoding": "gzip" }, pieces: [cut], isBroken: false };
}

function sent(status: number, isStream: boolean, pieces: readonly Buffer[], random: Random): Sent {
  const type = isStream ? "text/event-stream" : random.once(4) ? "Application/JSON; charset=utf-8" : "application/json";
  return { status, headers: { "content-type": type, "mcp-session-id": "s" }, pieces, isBroken: false };
}

/** Messages as events, in the ways that the format has for it; ids of events only where something may be wrong. */
function streamOf(messages: readonly unknown[], random: Random, mayBeWrong = false): Buffer {
  const end = random.pick(["\n", "\n", "\r\n", "\r"]);
  const hasIds = mayBeWrong && random.once(12);
  let text = random.once(8) ? "\ufeff" : "";
  if (random.once(5)) text += `: comment${end}${end}`;
  // A server that has its stream taken up again says when; it may say that of a time that no timer has.
  if (hasIds) text += `retry: ${random.once(9) ? "99999999999999999999" : "1"}${end}`;
  for (const [n, message] of messages.entries()) {
    if (hasIds) text += `id: ${random.once(5) ? "" : n}${end}`;
    if (random.once(2)) text += `event: ${mayBeWrong && random.once(20) ? "error" : "message"}${end}`;
    const lines = JSON.stringify(message, null, random.once(4) ? 1 : undefined) ?? "";
    for (const line of lines.split("\n")) text += `data:${random.once(3) ? "" : " "}${line}${end}`;
    text += end;
  }
  return Buffer.from(text);
}

function piecesOf(text: Buffer, random: Random): Buffer[] {
  if (!random.once(4)) return [text];
  const at = random.int(text.length + 1);
  return [text.subarray(0, at), text.subarray(at)];
}
