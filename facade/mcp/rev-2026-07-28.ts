import type { JsonObject } from "@bufbuild/protobuf";
import type { ServedTool } from "../catalogue/served-tool.js";
import { LIST_TTL_MS, type View } from "../catalogue/tools-list.js";
import { CLIENT_INFO_KEY } from "./client-name.js";
import { CAPABILITIES_KEY, MODERN_VERSIONS, PROTOCOL_VERSION_KEY } from "./era.js";
import { checkName, checkParams, mismatch } from "./headers.js";
import {
  errorText,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isObject,
  METHOD_NOT_FOUND,
  MISSING_CAPABILITY,
  RpcError,
  type RpcRequest,
  resultText,
  UNSUPPORTED_VERSION,
} from "./json-rpc.js";
import { Operation } from "./operation.js";
import { Reply } from "./reply.js";
import {
  type Admitted,
  callParamsOf,
  checkCursor,
  checkScope,
  instructionsFor,
  type McpContext,
  progressTokenOf,
  saidOf,
  traceparentOf,
  viewOnceKnown,
} from "./server.js";
import { CredentialError, type ToolResult } from "./tool-call.js";

// The modern era. Every request passes the same ladder, and the first step it
// fails answers it: metadata, headers, version, method, name, parameters,
// tool, scope, capabilities, routed arguments, and only then the tool itself.

const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

type Handler = (context: McpContext, admitted: Admitted, request: Modern, reply: Reply) => Promise<void> | void;

interface Modern extends RpcRequest {
  readonly params: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
  readonly operation: Operation;
}

const METHODS: ReadonlyMap<string, Handler> = new Map([
  ["server/discover", discover],
  ["tools/list", listTools],
  ["tools/call", callTool],
  ["subscriptions/listen", listen],
]);

/** The parameter that Mcp-Name repeats, by method. */
const NAMED: ReadonlyMap<string, string> = new Map([["tools/call", "name"]]);

/** Answers one request of the modern era. */
export function serveModern(context: McpContext, admitted: Admitted, request: RpcRequest): void {
  const reply = new Reply(admitted.exchange, admitted.headers);
  const operation = new Operation(admitted, "modern", request.method);
  const failed = (error: unknown) => {
    operation.end(error);
    if (error instanceof CredentialError && !reply.isStream) return context.refuse(admitted, error.refused, request.id);
    fail(reply, request, error);
  };
  try {
    const modern = checkEnvelope(request, admitted, operation);
    const handler = METHODS.get(modern.method) as Handler;
    handler(context, admitted, modern, reply)?.catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** The steps that need nothing but the request: what it says of itself, and its headers. */
function checkEnvelope({ id, method, params }: RpcRequest, { exchange }: Admitted, operation: Operation): Modern {
  const { headers } = exchange;
  const given = params as Record<string, unknown>;
  const meta = given._meta as Record<string, unknown>;
  const version = meta[PROTOCOL_VERSION_KEY];
  if (typeof version !== "string") throw badMeta(PROTOCOL_VERSION_KEY, "a string");
  operation.from(meta[CLIENT_INFO_KEY]);
  if (!isObject(meta[CAPABILITIES_KEY])) throw badMeta(CAPABILITIES_KEY, "an object");

  const { "mcp-protocol-version": versionHeader, "mcp-method": methodHeader } = headers;
  if (versionHeader !== undefined && versionHeader !== version) {
    throw mismatch("MCP-Protocol-Version differs from the version in the body");
  }
  if (methodHeader !== undefined && methodHeader !== method) {
    throw mismatch("Mcp-Method differs from the method in the body");
  }
  if (!MODERN_VERSIONS.includes(version)) {
    throw new RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", 400, {
      supported: [...MODERN_VERSIONS],
      requested: version,
    });
  }
  if (versionHeader === undefined) throw mismatch("the required header MCP-Protocol-Version is missing");
  if (methodHeader === undefined) throw mismatch("the required header Mcp-Method is missing");
  if (!METHODS.has(method)) throw new RpcError(METHOD_NOT_FOUND, "Method not found", 404);
  const named = NAMED.get(method);
  if (named !== undefined) checkName(headers["mcp-name"], given[named]);

  const level = meta["io.modelcontextprotocol/logLevel"];
  if (level !== undefined && !LOG_LEVELS.includes(level as string)) {
    throw new RpcError(INVALID_PARAMS, `Invalid params: logLevel must be one of ${LOG_LEVELS.join(", ")}`);
  }
  return { id, method, params: given, meta, operation };
}

function badMeta(key: string, what: string): RpcError {
  return new RpcError(INVALID_PARAMS, `Invalid params: _meta["${key}"] must be ${what}`, 400);
}

async function discover(context: McpContext, admitted: Admitted, modern: Modern, reply: Reply): Promise<void> {
  const { id, meta, operation } = modern;
  context.connected(admitted.known, meta[CLIENT_INFO_KEY]);
  const instructions = await instructionsFor(admitted, context);
  const result =
    `{"resultType":"complete","supportedVersions":${JSON.stringify(MODERN_VERSIONS)},"capabilities":{"tools":{}},` +
    `"instructions":${instructions},"ttlMs":${LIST_TTL_MS},"cacheScope":"private",${metaOf(admitted.server.serverInfo)}}`;
  reply.finish(200, resultText(id, result), id);
  operation.end();
}

function listTools(
  context: McpContext,
  admitted: Admitted,
  { id, params, operation }: Modern,
  reply: Reply,
): Promise<void> | void {
  const finish = (view: View): void => {
    reply.finishPrepared(view.list("modern"), id);
    operation.end();
  };
  checkCursor(params);
  const view = context.view(admitted);
  if ("tools" in view) return finish(view);
  return viewOnceKnown(view, admitted, context).then(finish);
}

async function callTool(context: McpContext, admitted: Admitted, request: Modern, reply: Reply): Promise<void> {
  const { exchange, known, options } = admitted;
  const { name, args } = callParamsOf(request.params);
  const seen = context.view(admitted);
  const view = "tools" in seen ? seen : await viewOnceKnown(seen, admitted, context);
  const tool = view.tools.get(name) ?? (await context.callAbsent(admitted, name));
  if ("members" in tool) return answerCall(tool, admitted, request, reply);
  request.operation.tool = name;
  checkScope(tool, admitted);
  checkCapabilities(tool, request.meta[CAPABILITIES_KEY] as Record<string, unknown>);
  if (tool.tool.headers.length > 0) checkParams(tool.tool.headers, args, exchange.headers);

  const token = progressTokenOf(request.params);
  const result = await context.callTool(tool, {
    known,
    server: admitted.server.name,
    startedAt: admitted.startedAt,
    view,
    args: args as JsonObject,
    tenant: options.tenant,
    traceparent: traceparentOf(request.params, exchange.headers.traceparent),
    onProgress: token === undefined ? undefined : (note) => reply.progress(token, note),
    onCancellable: (cancel) => exchange.onGone(cancel),
  });
  answerCall(result, admitted, request, reply);
}

function answerCall(called: ToolResult, { server }: Admitted, { id, operation }: Modern, reply: Reply): void {
  const { members, meta, isError } = called;
  const result = `{"resultType":"complete",${members},${metaOf(server.serverInfo, meta)}}`;
  reply.finish(200, resultText(id, result), id);
  operation.end(isError || undefined);
}

function checkCapabilities({ tool }: ServedTool, declared: Record<string, unknown>): void {
  const missing = tool.clientCapabilities.filter((capability) => !isObject(declared[capability]));
  if (missing.length === 0) return;
  throw new RpcError(MISSING_CAPABILITY, `Missing required client capability: ${missing.join(", ")}`, 400, {
    requiredCapabilities: Object.fromEntries(missing.map((capability) => [capability, {}])),
  });
}

/** Nothing is offered to subscribe to, so the subscription is acknowledged empty and ended at once. */
function listen(_context: McpContext, { server }: Admitted, { id, params, operation }: Modern, reply: Reply): void {
  if (!isObject(params.notifications)) {
    throw new RpcError(INVALID_PARAMS, "Invalid params: notifications must be an object");
  }
  const subscription = { "io.modelcontextprotocol/subscriptionId": id };
  reply.notify("notifications/subscriptions/acknowledged", { notifications: {}, _meta: subscription });
  const own = JSON.stringify(subscription).slice(1, -1);
  const result = `{"resultType":"complete","_meta":{${own},"io.modelcontextprotocol/serverInfo":${server.serverInfo}}}`;
  reply.finish(200, resultText(id, result), id);
  operation.end();
}

function fail(reply: Reply, { id }: RpcRequest, error: unknown) {
  if (error instanceof RpcError) {
    return reply.finish(error.status, errorText(id, error.code, error.message, error.data), id, error.headers);
  }
  const said = error instanceof CredentialError ? saidOf(error) : "Internal error";
  reply.finish(200, errorText(id, INTERNAL_ERROR, said), id);
}

/** @param own further members, as JSON text. */
function metaOf(serverInfo: string, own = ""): string {
  return `"_meta":{${own === "" ? "" : `${own},`}"io.modelcontextprotocol/serverInfo":${serverInfo}}`;
}
