import { invalidArgument } from "../../../shared/rpc/errors.js";
import { listAfter } from "../../objects/list-after.js";
import type { Writer } from "../../objects/writer.js";
import type { AgentRecord } from "./record.js";

/** The kinds that an agent refers to, by the field of its record. */
export const REFERENCES = {
  skills: "skill",
  prompts: "prompt",
  variables: "variable",
  custom_tools: "custom tool",
  mcp_servers: "MCP server",
  integrations: "integration",
  knowledge_bases: "knowledge base",
} as const;

const DETACH = "detach it with update_agent and remove_resource_ids";

/** How an agent refers to them no longer. */
export const DETACHING: Readonly<Record<keyof typeof REFERENCES, string>> = {
  skills: DETACH,
  prompts: DETACH,
  variables: DETACH,
  custom_tools: DETACH,
  mcp_servers: DETACH,
  integrations: DETACH,
  knowledge_bases: DETACH,
};

/** The fields of an agent that refer to others. */
export type Resources = Pick<AgentRecord, keyof typeof REFERENCES>;

/** The ids of all that an agent refers to. */
export function attachedTo(agent: Resources & Pick<AgentRecord, "fallback_integration">): string[] {
  const fields = Object.keys(REFERENCES) as (keyof Resources)[];
  const { fallback_integration: fallback = "" } = agent;
  return [...fields.flatMap((field) => agent[field]), ...(fallback === "" ? [] : [fallback])];
}

/** What an agent without any refers to. */
export const NO_RESOURCES: Resources = {
  skills: [],
  prompts: [],
  variables: [],
  custom_tools: [],
  mcp_servers: [],
  integrations: [],
  knowledge_bases: [],
};

/**
 * What an agent refers to after some was added and some removed. An integration
 * takes the place of the one before.
 *
 * @throws ConnectError invalid_argument for what the writer cannot see, or for two integrations.
 */
export async function resourcesAfter(
  current: Resources,
  add: readonly string[],
  remove: readonly string[],
  writer: Writer,
): Promise<Resources> {
  if (add.length === 0 && remove.length === 0) return resourcesOf(current);
  const added = await writer.seen(add);
  const known = new Set([...added.values()].flat());
  const missing = add.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw invalidArgument(
      `no object that you can see and attach has the id ${missing.join(", ")}; list_available_resources returns the ids`,
    );
  const integrations = added.get(REFERENCES.integrations) ?? [];
  if (integrations.length > 1)
    throw invalidArgument(`an agent can have only one integration: give one of ${integrations.join(", ")}`);
  const fields = Object.keys(REFERENCES) as (keyof Resources)[];
  const after = fields.map((field) => {
    const isReplaced = field === "integrations" && integrations.length > 0;
    return [field, listAfter(isReplaced ? [] : current[field], added.get(REFERENCES[field]) ?? [], remove)];
  });
  return Object.fromEntries(after) as unknown as Resources;
}

function resourcesOf(agent: Resources): Resources {
  const { skills, prompts, variables, custom_tools, mcp_servers, integrations, knowledge_bases } = agent;
  return { skills, prompts, variables, custom_tools, mcp_servers, integrations, knowledge_bases };
}
