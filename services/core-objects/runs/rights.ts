import type { Base, CollectionSpec } from "../../shared/store/store.js";
import type { AgentRecord } from "../kinds/agents/record.js";
import type { ToolPin } from "../kinds/mcp-servers/pins.js";
import { given } from "../objects/given.js";

/** What an agent was given when a run of it was triggered. */
export type GivenAgent = Pick<
  AgentRecord,
  | "instructions"
  | "model"
  | "tools"
  | "skills"
  | "prompts"
  | "variables"
  | "knowledge_bases"
  | "custom_tools"
  | "mcp_servers"
  | "integrations"
  | "ask_tools"
  | "parameters"
  | "fallback_model"
  | "fallback_integration"
>;

/** Something that a run may use as it was, and not as another. */
export interface Fixed {
  readonly id: string;
  readonly fingerprint: string;
}

/** A remote MCP server and those of its tools that a run may use. */
export interface ServerRights extends Fixed {
  /** null until its tools are listed for the first time in this run, and then those that were offered. */
  readonly tools: readonly ToolPin[] | null;
}

/** What a run may do, tool by tool and object by object. */
export interface Rights {
  /** Our own tools, as server/tool. */
  readonly tools: readonly string[];
  /** Remote tools that the agent names in full, as mcp/TOOL. */
  readonly named: readonly string[];
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
  readonly variables: readonly string[];
  readonly knowledge_bases: readonly string[];
  readonly custom_tools: readonly Fixed[];
  readonly mcp_servers: readonly ServerRights[];
}

/** What a run may do, as it is stored while the run has not ended. Its id is the run's. */
export interface RightsRecord extends Base {
  /** As the agent was when the run was triggered. */
  readonly agent: GivenAgent;
  /** What the run may do at most; null until a worker takes it for the first time. */
  readonly rights: Rights | null;
  /** Where its model is asked; null until then. */
  readonly integration: Fixed | null;
  /** Where its fallback model is asked; absent or null for nowhere. */
  readonly fallback?: Fixed | null;
  /** The worker that wrote it last, by the run's fence. */
  readonly fence: number;
  /** The bytes that are counted for it; absent in old records. */
  readonly taken?: number;
  readonly expires_at: Date;
}

/** Where they are kept. */
export const RIGHTS: CollectionSpec = {
  name: "run_rights",
  indexes: [{ name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 }],
};

/** What an agent was given, of its record. */
export function givenOf(agent: AgentRecord): GivenAgent {
  const { instructions, model, tools, skills, prompts, variables, knowledge_bases } = agent;
  const { custom_tools, mcp_servers, integrations, parameters, fallback_model, fallback_integration } = agent;
  const texts = { instructions, model, tools, ...(agent.ask_tools && { ask_tools: agent.ask_tools }) };
  const ofModel = given({ parameters, fallback_model, fallback_integration });
  return { ...texts, skills, prompts, variables, knowledge_bases, custom_tools, mcp_servers, integrations, ...ofModel };
}

/** What both allow. It is never more than either, whatever the other is. */
export function meet(a: Rights, b: Rights): Rights {
  return {
    tools: both(a.tools, b.tools),
    named: both(a.named, b.named),
    skills: both(a.skills, b.skills),
    prompts: both(a.prompts, b.prompts),
    variables: both(a.variables, b.variables),
    knowledge_bases: both(a.knowledge_bases, b.knowledge_bases),
    custom_tools: pairs(a.custom_tools, b.custom_tools).map(([one]) => one),
    mcp_servers: pairs(a.mcp_servers, b.mcp_servers).map(([one, other]) => ({
      id: one.id,
      fingerprint: one.fingerprint,
      tools: toolsOfBoth(one.tools, other.tools),
    })),
  };
}

/** Whether two that were met say the same: what is met keeps its order. */
export function isSame(a: Rights, b: Rights): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function both(a: readonly string[], b: readonly string[]): string[] {
  const there = new Set(b);
  return a.filter((one) => there.has(one));
}

function pairs<T extends Fixed>(a: readonly T[], b: readonly T[]): [T, T][] {
  const there = new Map(b.map((one) => [one.id, one]));
  return a.flatMap((one): [T, T][] => {
    const other = there.get(one.id);
    return other?.fingerprint === one.fingerprint ? [[one, other]] : [];
  });
}

function toolsOfBoth(a: ServerRights["tools"], b: ServerRights["tools"]): ServerRights["tools"] {
  if (a === null || b === null) return a ?? b;
  const there = new Map(b.map(({ name, fingerprint }) => [name, fingerprint]));
  return a.filter(({ name, fingerprint }) => there.get(name) === fingerprint);
}
