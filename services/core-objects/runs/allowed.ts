import type { Call, Caller } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { fingerprintOf } from "../fingerprint.js";
import { fixedTool } from "../kinds/custom-tools/fixed.js";
import type { CustomToolRecord } from "../kinds/custom-tools/record.js";
import type { McpServerRecord } from "../kinds/mcp-servers/record.js";
import { filterOf } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import type { Fixed, GivenAgent, Rights } from "./rights.js";
import type { OwnTools } from "./tools/own-tools.js";

/**
 * What an agent, as it was given or as it is, lets a caller do at this moment: its patterns as names of tools, and of
 * the objects those that are enabled and that the caller can see.
 */
export async function allowedNow(context: Context, own: OwnTools, agent: GivenAgent, call: Call): Promise<Rights> {
  const { caller } = call;
  const ids = async (noun: string, given: readonly string[]): Promise<string[]> =>
    (await usable(context, noun, given, caller, { _id: 1 })).map(({ _id }) => _id);
  const [tools, skills, prompts, variables, knowledge_bases, custom, servers] = await Promise.all([
    own.matching(agent.tools, call),
    ids("skill", agent.skills),
    ids("prompt", agent.prompts),
    ids("variable", agent.variables),
    ids("knowledge base", agent.knowledge_bases),
    usable<CustomToolRecord>(context, "custom tool", agent.custom_tools, caller),
    usable<McpServerRecord>(context, "MCP server", agent.mcp_servers, caller),
  ]);
  return {
    tools: tools.map(({ label }) => label),
    named: agent.tools.filter((tool) => tool.startsWith("mcp/")),
    ...{ skills, prompts, variables, knowledge_bases },
    custom_tools: custom.flatMap(fixedTool),
    mcp_servers: servers.flatMap((server) => fixed(server._id, placeOf(server), { tools: server.tools ?? null })),
  };
}

/** Something with the fingerprint of what it is; nothing for what has none. */
export function fixed<More extends object>(id: string, value: unknown, more: More): (Fixed & More)[] {
  const fingerprint = fingerprintOf(value);
  return fingerprint === undefined ? [] : [{ id, fingerprint, ...more }];
}

function placeOf({ url, transport }: McpServerRecord): object {
  return { url, transport };
}

/** Those of some objects that are enabled and that the caller can see, in the order of their ids. */
export async function usable<R extends ObjectRecord>(
  context: Context,
  noun: string,
  ids: readonly string[],
  caller: Caller,
  projection?: Readonly<Record<string, 1>>,
): Promise<R[]> {
  if (ids.length === 0) return [];
  const filter = { _id: { $in: [...ids] }, enabled: true, ...filterOf(caller, "read") };
  const found = await context
    .collection<ObjectRecord>(noun)
    .find(filter, projection === undefined ? {} : { projection })
    .toArray();
  return found as R[];
}
