import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { ConnectionState } from "#proto/core/v1/connection_pb.js";
import type { TestMcpServerRequestSchema, TestMcpServerResponseSchema } from "#proto/core/v1/mcp_server_service_pb.js";
import { MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { keepConnection, stateOf } from "../../objects/connection.js";
import { readable } from "../../objects/gate.js";
import { leftOut } from "../../objects/left-out.js";
import { may } from "../../policy.js";
import { failureOf } from "../../runs/outgoing.js";
import { createRedactor } from "../../runs/redact.js";
import { listRemote } from "../../runs/tools/remote-tools.js";
import type { McpServerRecord } from "./record.js";

const SHOWN = 200;

/** Connects to an MCP server as a run would, asks for its tools, and keeps whether it answered. */
export async function testMcpServer(
  context: Context,
  { mcpServerId }: MessageShape<typeof TestMcpServerRequestSchema>,
  { caller, signal }: Call,
): Promise<MessageInitShape<typeof TestMcpServerResponseSchema>> {
  const record = (await readable(context, "MCP server", mcpServerId, caller)) as McpServerRecord;
  const before = leftOut(record);
  // It is tried again by a person who may change it: others are told why it is not.
  if (before !== undefined && !may(caller, "modify", record))
    return { connection: ConnectionState.DISCONNECTED, error: before, tools: [] };
  const redactor = createRedactor();
  let tools: readonly string[] = [];
  let [answered, error] = [true, ""];
  try {
    tools = await listRemote(record, signal, { context, redactor });
  } catch (reason) {
    signal.throwIfAborted();
    [answered, error] = [false, failureOf(reason, redactor)];
    // That it is left out is kept already.
    if (reason instanceof MisbehavedError) return { connection: ConnectionState.DISCONNECTED, error };
  }
  const connection = { answered, error, tested_at: new Date() };
  await keepConnection(context, "MCP server", record, connection);
  return {
    connection: stateOf(connection),
    ...(error !== "" && { error }),
    tools: tools.slice(0, SHOWN),
  };
}
