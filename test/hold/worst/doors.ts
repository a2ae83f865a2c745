import { create, type DescMethod, fromJson, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { Tool } from "../../../services/shared/tools/tools.js";
import type { Program } from "../../support/program.js";

/** After that long the client leaves: some tools follow for a minute what they began, whatever their values are. */
const PATIENCE_MS = 4_000;

/** By which way a call comes in: MCP, JSON of Connect at the façade or on the gRPC port, or gRPC. */
export type Door = "mcp" | "rpc" | "grpc" | "connect";

/** What a call was answered. */
export interface Answer {
  /** "ok", how it was refused, "left" where it went on for too long to wait, or "unsent" where the door cannot carry it. */
  readonly code: string;
  /** What was said of a refusal. */
  readonly said: string;
  /** The result of a call that was answered. */
  readonly result?: unknown;
}

/** Makes a call as the holder of a key. */
export type Enter = (args: JsonObject) => Promise<Answer>;

/** The ways to call the program, with one connection to its gRPC port. */
export class Doors {
  private readonly grpc: Transport;
  private readonly key: string;

  constructor(private readonly program: Program) {
    this.key = program.bootstrap.admin.api_key;
    this.grpc = createGrpcTransport({ baseUrl: `http://${program.grpcAddress}`, defaultTimeoutMs: PATIENCE_MS });
  }

  /** A tool at its MCP endpoint. */
  tool(tool: Tool): Enter {
    return (args) => callTool(this.program, this.key, tool, args).catch(leftOrFailed);
  }

  /** An rpc by another door. */
  rpc(door: Exclude<Door, "mcp">, method: DescMethod): Enter {
    if (door === "grpc") return (args) => callGrpc(this.grpc, this.key, method, args).catch(leftOrFailed);
    const { baseUrl, grpcAddress } = this.program;
    const base = door === "rpc" ? `${baseUrl}/rpc` : `http://${grpcAddress}`;
    return (args) => callJson(base, this.key, method, args).catch(leftOrFailed);
  }
}

function leftOrFailed({ name, message }: Error): Answer {
  return { code: name === "TimeoutError" ? "left" : "failed", said: message };
}

/** Calls a tool at its MCP endpoint. */
async function callTool({ baseUrl }: Program, key: string, tool: Tool, args: JsonObject): Promise<Answer> {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool.name, arguments: args } };
  const response = await post(`${baseUrl}/mcp/${tool.server}`, key, "application/json", JSON.stringify(body));
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

/** Calls an rpc as JSON of Connect (connectrpc.com/docs/protocol). */
async function callJson(base: string, key: string, method: DescMethod, args: JsonObject): Promise<Answer> {
  const url = `${base}/${method.parent.typeName}/${method.name}`;
  if (method.methodKind === "server_streaming") return callJsonStream(url, key, args);
  const response = await post(url, key, "application/json", JSON.stringify(args));
  const result = (await response.json()) as Refusal;
  return response.status === 200 ? { code: "ok", said: "", result } : refusalOf(result, response.status);
}

interface Refusal {
  readonly code?: string;
  readonly message?: string;
}

function refusalOf({ code, message }: Refusal, status: number): Answer {
  return { code: code ?? String(status), said: message ?? "" };
}

/** A byte of flags and four of length come before each message; the flag of the last says that the stream ends. */
const PREFIX_BYTES = 5;
const END_OF_STREAM = 2;

async function callJsonStream(url: string, key: string, args: JsonObject): Promise<Answer> {
  const message = Buffer.from(JSON.stringify(args));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  const response = await post(url, key, "application/connect+json", Buffer.concat([prefix, message]));
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) return refusalOf(JSON.parse(bytes.toString()) as Refusal, response.status);
  let result: unknown;
  for (let at = 0; at < bytes.length; ) {
    const end = at + PREFIX_BYTES + bytes.readUInt32BE(at + 1);
    const part = JSON.parse(bytes.subarray(at + PREFIX_BYTES, end).toString()) as { readonly error?: Refusal };
    const isEnd = (bytes[at]! & END_OF_STREAM) !== 0;
    if (isEnd && part.error !== undefined) return refusalOf(part.error, response.status);
    if (!isEnd) result = part;
    at = end;
  }
  return { code: "ok", said: "", result };
}

/** Calls an rpc over gRPC; what is no message of it cannot be sent so. */
async function callGrpc(transport: Transport, key: string, method: DescMethod, args: JsonObject): Promise<Answer> {
  let request: Message;
  try {
    request = fromJson(method.input, args);
  } catch (error) {
    return { code: "unsent", said: (error as Error).message };
  }
  const headers = { authorization: `Bearer ${key}` };
  try {
    const result = await lastOf(transport, method, request, headers);
    return { code: "ok", said: "", result: toJson(method.output, result, { useProtoFieldName: true }) };
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    if (code === Code.DeadlineExceeded) return { code: "left", said: rawMessage };
    return { code: codeToString(code), said: rawMessage };
  }
}

async function lastOf(
  transport: Transport,
  method: DescMethod,
  request: Message,
  headers: Readonly<Record<string, string>>,
): Promise<Message> {
  if (method.methodKind === "unary") {
    return (await transport.unary(method as never, undefined, undefined, headers, request as never)).message as Message;
  }
  const one = (async function* () {
    yield request;
  })();
  const { message } = await transport.stream(method as never, undefined, undefined, headers, one as never);
  let last: Message = create(method.output);
  for await (const reply of message) last = reply as Message;
  return last;
}

function post(url: string, key: string, type: string, body: string | Buffer<ArrayBuffer>): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": type,
      accept: "application/json, text/event-stream",
    },
    body,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
}
