import type { Caller } from "../../shared/rpc/call.js";
import { shorten } from "../../shared/tools/shorten.js";
import type { Context } from "../context.js";
import { REFERENCES } from "../kinds/agents/resources.js";
import { isKnown } from "../objects/tool-names.js";
import { filterOf } from "../policy.js";
import type { GivenAgent, Rights } from "./rights.js";

/** Lines that a run keeps, and characters of each. */
const LINES = 20;
const CHARACTERS = 200;

/** The resources that a run is equipped with; its integration is a matter of its own, since no run begins without one. */
const FIELDS = ["skills", "prompts", "variables", "knowledge_bases", "custom_tools", "mcp_servers"] as const;

/**
 * What an agent was given and its run cannot use, in words for the person who triggered it: a run that lacks something
 * completes as any other, and its answer does not show it.
 */
export async function leftOutParts(
  context: Context,
  agent: GivenAgent,
  rights: Rights,
  caller: Caller,
): Promise<string[]> {
  const lines: string[] = [];
  for (const field of FIELDS) {
    const used = new Set(rights[field].map((one) => (typeof one === "string" ? one : one.id)));
    const missing = agent[field].filter((id) => !used.has(id));
    if (missing.length === 0) continue;
    const noun = REFERENCES[field];
    const seen = await context
      .collection(noun)
      .find({ _id: { $in: missing }, ...filterOf(caller, "read") }, { projection: { name: 1, enabled: 1 } })
      .toArray();
    const known = new Map(seen.map((one) => [one._id, one]));
    for (const id of missing) lines.push(lineOf(noun, id, known.get(id)));
  }
  const used = new Set(rights.tools);
  for (const pattern of agent.tools)
    if (!pattern.startsWith("mcp/") && !isKnown(pattern, used))
      lines.push(shorten(`tool ${pattern}: you cannot use it, or there is no such tool`, CHARACTERS));
  if (lines.length <= LINES) return lines;
  return [...lines.slice(0, LINES - 1), `and ${lines.length - LINES + 1} more`];
}

function lineOf(
  noun: string,
  id: string,
  seen: { readonly name: string; readonly enabled: boolean } | undefined,
): string {
  if (seen === undefined) return `${noun} ${id}: not shared with you, or deleted; ask the agent's owner`;
  const why = seen.enabled ? "it cannot be used as it is" : "it is disabled";
  return shorten(`${noun} ${seen.name} (${id}): ${why}`, CHARACTERS);
}
