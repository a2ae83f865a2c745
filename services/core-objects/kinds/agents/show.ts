import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  Agent,
  AgentChangeSchema,
  GetAgentRequest,
  GetAgentResponseSchema,
} from "#proto/core/v1/agent_service_pb.js";
import type { Reference } from "#proto/core/v1/reference_pb.js";
import type { Caller } from "../../../shared/rpc/call.js";
import { permissionDenied } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import { may } from "../../policy.js";
import type { AgentRecord } from "./record.js";
import { shownVersions, versionOf } from "./versions.js";

// An agent as it is or was, or what changed from one version to another.

/** Lines and items of a field that are shown of a change, and characters of each. */
const LINES = 50;
const CHARACTERS = 200;

/** What of an agent a comparison looks at: its field as the API names it, and its lines or items. */
const COMPARED: Readonly<Record<string, (agent: Agent) => readonly string[]>> = {
  instructions: ({ instructions = "" }) => instructions.split("\n"),
  model: ({ model }) => (model === "" ? [] : [model]),
  integration: ({ integration }) => (integration === undefined ? [] : [named(integration)]),
  parameters: ({ parameters: { $typeName: _, ...settings } = {} }) =>
    Object.entries(settings).flatMap(([name, value]) => (`${value ?? ""}` === "" ? [] : [`${name}: ${value}`])),
  fallback_model: ({ fallbackModel = "" }) => (fallbackModel === "" ? [] : [fallbackModel]),
  fallback_integration: ({ fallbackIntegration: one }) => (one === undefined ? [] : [named(one)]),
  tools: ({ tools }) => tools,
  ask_tools: ({ askTools }) => askTools,
  skills: ({ skills }) => skills.map(named),
  knowledge_bases: ({ knowledgeBases }) => knowledgeBases.map(named),
  prompts: ({ prompts }) => prompts.map(named),
  variables: ({ variables }) => variables.map(named),
  custom_tools: ({ customTools }) => customTools.map(named),
  mcp_servers: ({ mcpServers }) => mcpServers.map(named),
};

/** Shows an agent: old versions only to those who may change it, since what was taken out of them is in there. */
export async function showAgent(
  { version, compareTo }: GetAgentRequest,
  record: AgentRecord,
  caller: Caller,
  shown: (record: AgentRecord) => Promise<Agent>,
): Promise<MessageInitShape<typeof GetAgentResponseSchema>> {
  if (version === undefined && compareTo === undefined) return { agent: await shown(record) };
  if (record.origin === "builtin")
    throw permissionDenied("built-in agents have no versions: omit version and compare_to");
  if (!may(caller, "modify", record))
    throw permissionDenied("versions of this agent need the config tier: ask its owner for it");
  const asked = versionOf(record, version);
  if (compareTo === undefined) return { agent: await shown(asked), versions: shownVersions(record, caller) };
  const [before, after] = await Promise.all([shown(versionOf(record, compareTo)), shown(asked)]);
  const { id, name, enabled } = after;
  return {
    agent: { id, name, enabled, ...(after.version !== undefined && { version: after.version }) },
    changes: changesFrom(before, after),
  };
}

function changesFrom(before: Agent, after: Agent): MessageInitShape<typeof AgentChangeSchema>[] {
  return Object.entries(COMPARED).flatMap(([field, of]) => {
    const [was, is] = [of(before), of(after)];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const [removed, added] = [without(was, is), without(is, was)];
    if (removed.length + added.length === 0) return [{ field, added: ["(the same in another order)"] }];
    return [{ field, removed: bounded(removed), added: bounded(added) }];
  });
}

/** What the first list has more often than the second. */
function without(some: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const one of others) left.set(one, (left.get(one) ?? 0) + 1);
  return some.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  });
}

function bounded(lines: readonly string[]): string[] {
  const kept = lines.slice(0, LINES).map((line) => shorten(line, CHARACTERS));
  return lines.length > LINES ? [...kept, `and ${lines.length - LINES} more`] : kept;
}

function named({ id, name }: Pick<Reference, "id" | "name">): string {
  return name ? `${name} (${id})` : id;
}
