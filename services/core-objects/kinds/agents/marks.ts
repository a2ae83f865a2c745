import type { UpdateAgentRequest } from "#proto/core/v1/agent_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { checkHeld } from "../../objects/check-held.js";
import { listAfter } from "../../objects/list-after.js";
import type { Writer } from "../../objects/writer.js";
import type { AgentRecord } from "./record.js";

// Marks: the tools of an agent that it calls only if the user of the run says yes.

/** As a mark names a tool: those of our servers and of remote ones as an agent's tools do, custom ones by their name. */
const MARK = /^[a-z][a-z0-9-]{0,40}\/[^/]{1,128}$/;
const CUSTOM = "custom/";

/**
 * Marks, each of which can name a tool. Custom tools are known by name when a run begins.
 *
 * @throws ConnectError invalid_argument that names one that cannot.
 */
export function knownMarks(
  marks: readonly string[],
  writer: Writer,
  before: readonly string[] = [],
): readonly string[] {
  const wrong = marks.find((mark) => !MARK.test(mark));
  if (wrong !== undefined)
    throw invalidArgument(
      `${JSON.stringify(wrong)} names no tool to ask for: use server/tool such as cti/create_*, mcp/TOOL or custom/NAME`,
    );
  writer.knownTools(
    marks.filter((mark) => !mark.startsWith(CUSTOM)),
    before,
  );
  return marks;
}

/** The marks after some were added and some removed. */
export function marksAfter(
  { ask_tools: current = [] }: Pick<AgentRecord, "ask_tools">,
  { addAskTools: add, removeAskTools: remove }: UpdateAgentRequest,
  writer: Writer,
): readonly string[] {
  checkHeld("agent", "ask_tools entry", remove, current);
  return listAfter(current, knownMarks(add, writer, current), remove);
}
