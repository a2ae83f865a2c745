import type { JsonObject } from "@bufbuild/protobuf";
import type { ProgressNote } from "../../services/shared/tools/callable-tool.js";
import type { View } from "../catalogue/tools-list.js";
import { LEGACY_VERSIONS } from "./era.js";
import {
  errorText,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isObject,
  isRequestId,
  METHOD_NOT_FOUND,
  RpcError,
  type RpcRequest,
  resultText,
} from "./json-rpc.js";
import { Operation, rememberClient } from "./operation.js";
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

// The legacy era, without sessions: initialize is answered and forgotten, any
// request is served whatever was negotiated. JSON-RPC errors are HTTP 200. A
// client that hangs up has not cancelled: the call is carried through.

/** Answers one request of the legacy era. */
export function serveLegacy(context: McpContext, admitted: Admitted, request: RpcRequest) {
  const reply = new Reply(admitted.exchange, admitted.headers);
  const { id, params } = request;
  const operation = new Operation(admitted, "legacy", request.method);
  const failed = (error: unknown): void => {
    operation.end(error);
    const status = statusOf(error);
    if (error instanceof CredentialError && !reply.isStream) context.refuse(admitted, error.refused, id);
    else reply.finish(status, failureText(id, error), id, status === 200 ? [] : (error as RpcError).headers);
  };
  if (request.method === "tools/list") return listTools(context, admitted, request, reply, operation, failed);
  const token = progressTokenOf(params);
  const onProgress = token === undefined ? undefined : (note: ProgressNote) => reply.progress(token, note);
  answer(context, admitted, request, operation, onProgress).then((text) => reply.finish(200, text, id), failed);
}

/** Sends a list that is known as the bytes it is. */
function listTools(
  context: McpContext,
  admitted: Admitted,
  { id, params }: RpcRequest,
  reply: Reply,
  operation: Operation,
  failed: (error: unknown) => void,
): void {
  const finish = (view: View): void => {
    reply.finishPrepared(view.list("legacy"), id);
    operation.end();
  };
  try {
    checkCursor(params);
    const view = context.view(admitted);
    if ("tools" in view) finish(view);
    else viewOnceKnown(view, admitted, context).then(finish, failed);
  } catch (error) {
    failed(error);
  }
}

/** Answers a batch of version 2025-03-26: the responses in order, 202 where there is none. */
export function serveBatch(context: McpContext, admitted: Admitted, elements: readonly unknown[]) {
  const answers = elements.flatMap((element) => {
    const text = answerElement(context, admitted, element);
    return text === undefined ? [] : [text];
  });
  const { exchange, headers } = admitted;
  if (answers.length === 0) return exchange.answer(202, []);
  Promise.all(answers).then(
    (texts) => exchange.answer(200, headers, `[${texts.join(",")}]`),
    () => exchange.close(),
  );
}

function answerElement(context: McpContext, admitted: Admitted, element: unknown): Promise<string> | undefined {
  if (isObject(element) && element.jsonrpc === "2.0") {
    const { id, method, params } = element;
    const isNotice = typeof method === "string" && !("id" in element);
    const isResponse = method === undefined && ("result" in element || "error" in element);
    if (isNotice || isResponse) return undefined;
    if (typeof method === "string" && isRequestId(id)) {
      const operation = new Operation(admitted, "legacy", method);
      return answer(context, admitted, { id, method, params }, operation, undefined).catch((error: unknown) => {
        operation.end(error);
        return failureText(id, error);
      });
    }
  }
  return Promise.resolve(errorText(undefined, INVALID_REQUEST, "Invalid request"));
}

/** Errors of the legacy era are 200 but for those that say something of HTTP: which scope, and when to try again. */
function statusOf(error: unknown): 200 | 403 | 429 | 503 {
  const status = error instanceof RpcError ? error.status : 200;
  return status === 403 || status === 429 || status === 503 ? status : 200;
}

function failureText(id: string | number, error: unknown): string {
  if (error instanceof RpcError) return errorText(id, error.code, error.message, error.data);
  return errorText(id, INTERNAL_ERROR, error instanceof CredentialError ? saidOf(error) : "Internal error");
}

/** @throws RpcError, CredentialError */
async function answer(
  context: McpContext,
  admitted: Admitted,
  request: RpcRequest,
  operation: Operation,
  onProgress: ((note: ProgressNote) => void) | undefined,
): Promise<string> {
  if (request.method === "tools/call") {
    const result = await callTool(context, admitted, request, operation, onProgress);
    operation.end(result.isError || undefined);
    return resultText(request.id, resultOf(result));
  }
  const text = await textOf(context, admitted, request);
  operation.end();
  return text;
}

/** @throws RpcError, CredentialError */
async function textOf(context: McpContext, admitted: Admitted, { id, method, params }: RpcRequest): Promise<string> {
  switch (method) {
    case "initialize":
      return resultText(id, await initialize(context, admitted, params));
    case "ping":
      return resultText(id, "{}");
    case "tools/list":
      checkCursor(params);
      return (await viewOnceKnown(context.view(admitted), admitted, context)).list("legacy").with(id).toString();
    default:
      throw new RpcError(METHOD_NOT_FOUND, "Method not found");
  }
}

/** @throws RpcError, CredentialError */
async function callTool(
  context: McpContext,
  admitted: Admitted,
  { params }: RpcRequest,
  operation: Operation,
  onProgress: ((note: ProgressNote) => void) | undefined,
): Promise<ToolResult> {
  const { name, args } = callParamsOf(params);
  const view = await viewOnceKnown(context.view(admitted), admitted, context);
  const tool = view.tools.get(name) ?? (await context.callAbsent(admitted, name));
  if ("members" in tool) return tool;
  operation.tool = name;
  checkScope(tool, admitted);
  return context.callTool(tool, {
    known: admitted.known,
    server: admitted.server.name,
    startedAt: admitted.startedAt,
    view,
    args: args as JsonObject,
    tenant: admitted.options.tenant,
    traceparent: traceparentOf(params, admitted.exchange.headers.traceparent),
    onProgress,
  });
}

function resultOf({ members, meta }: ToolResult): string {
  return meta === "" ? `{${members}}` : `{${members},"_meta":{${meta}}}`;
}

async function initialize(context: McpContext, admitted: Admitted, params: unknown): Promise<string> {
  const asked = isObject(params) ? params.protocolVersion : undefined;
  if (typeof asked !== "string") throw new RpcError(INVALID_PARAMS, "Invalid params: protocolVersion must be a string");
  const { clientInfo } = params as Record<string, unknown>;
  rememberClient(admitted.known, clientInfo);
  context.connected(admitted.known, clientInfo);
  const version = LEGACY_VERSIONS.includes(asked) ? asked : LEGACY_VERSIONS[0];
  return (
    `{"protocolVersion":"${version}","capabilities":{"tools":{}},"serverInfo":${admitted.server.serverInfo},` +
    `"instructions":${await instructionsFor(admitted, context)}}`
  );
}
