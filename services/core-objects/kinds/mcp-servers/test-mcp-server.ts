import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { ConnectionState } from "#proto/core/v1/connection_pb.js";
import type { TestMcpServerRequestSchema, TestMcpServerResponseSchema } from "#proto/core/v1/mcp_server_service_pb.js";
import { MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import type { Call } from "../../../shared/rpc/call.js";
import { invalidArgument, permissionDenied } from "../../../shared/rpc/errors.js";
import { quotedAll } from "../../../shared/rpc/quoted.js";
import type { Context } from "../../context.js";
import { keepConnection, stateOf } from "../../objects/connection.js";
import { contended, readable } from "../../objects/gate.js";
import { leftOut } from "../../objects/left-out.js";
import { may } from "../../policy.js";
import type { ListedTool } from "../../runs/apart/mcp.js";
import { failureOf } from "../../runs/outgoing.js";
import { createRedactor, shown as visible } from "../../runs/redact.js";
import { listRemote } from "../../runs/tools/remote-tools.js";
import { keepTools, shownOf } from "./keep-tools.js";
import { MAX_PINS, pinsAfter, pinsOf, type ToolPin, waitingAfter, waitingOf } from "./pins.js";
import type { McpServerRecord } from "./record.js";

/**
 * Connects to an MCP server as a run would, asks for its tools, and keeps whether it answered and which tools wait. The
 * first list that somebody reads who may change the server is what they chose.
 *
 * @throws ConnectError invalid_argument for a tool to accept that does not wait, permission_denied for a caller who may
 * not accept it.
 */
export async function testMcpServer(
  context: Context,
  { mcpServerId, acceptTools }: MessageShape<typeof TestMcpServerRequestSchema>,
  { caller, signal }: Call,
): Promise<MessageInitShape<typeof TestMcpServerResponseSchema>> {
  const record = (await readable(context, "MCP server", mcpServerId, caller)) as McpServerRecord;
  const chooses = caller.run === undefined && may(caller, "modify", record);
  if (acceptTools.length > 0) checkAccepted(record, acceptTools, chooses);
  const why = leftOut(record);
  // It is tried again by a person who may change it: others are told why it is not.
  if (why !== undefined && !chooses) return { connection: ConnectionState.DISCONNECTED, error: why, tools: [] };
  const before = pinsAfter(record.tools ?? [], record.waiting ?? [], acceptTools);
  const redactor = createRedactor();
  let listed: readonly ListedTool[] | undefined;
  let error = "";
  try {
    listed = await listRemote(record, signal, { context, redactor });
  } catch (reason) {
    signal.throwIfAborted();
    error = failureOf(reason, redactor);
    // That it is left out is kept already.
    if (reason instanceof MisbehavedError) return { connection: ConnectionState.DISCONNECTED, error };
  }
  const connection = { answered: listed !== undefined, error, tested_at: new Date() };
  await keepConnection(context, "MCP server", record, connection);
  const isFirst = !record.tools && chooses && listed !== undefined;
  const pins = isFirst ? pinsOf(listed ?? []) : before;
  const accepted = new Set(acceptTools);
  const shown = (record.waiting ?? []).filter(({ name }) => !accepted.has(name));
  const found = shownOf(waitingOf(listed ?? [], pins), redactor.redact);
  const waiting = listed === undefined ? shown : chooses ? found : waitingAfter(shown, found);
  const isChosen = isFirst || record.tools;
  if (isChosen) {
    const isKept = await keepTools(context, { ...record, connection }, { tools: bounded(pins, listed), waiting });
    if (!isKept && accepted.size > 0) throw contended("MCP server");
  }
  return {
    connection: stateOf(connection),
    ...(error !== "" && { error }),
    tools: (listed ?? []).map(({ name }) => visible(name, redactor)),
    waiting: isChosen ? waiting.map(({ name, description, changed }) => ({ name, description, changed })) : [],
  };
}

function checkAccepted(record: McpServerRecord, names: readonly string[], chooses: boolean): void {
  if (!chooses)
    throw permissionDenied(
      "only people who may change an MCP server can accept its tools: ask its owner, or omit accept_tools",
    );
  const waiting = new Set((record.waiting ?? []).map(({ name }) => name));
  const unknown = names.filter((name) => !waiting.has(name));
  if (unknown.length > 0)
    throw invalidArgument(
      `no tool ${quotedAll(unknown)} is waiting: call test_mcp_server without accept_tools to see the waiting tools`,
    );
}

/** Pins of tools that are gone make room for others. */
function bounded(pins: readonly ToolPin[], listed: readonly ListedTool[] | undefined): readonly ToolPin[] {
  if (pins.length <= MAX_PINS) return pins;
  const there = new Set((listed ?? []).map(({ name }) => name));
  return pins.filter(({ name }) => there.has(name)).slice(0, MAX_PINS);
}
