import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService, type UpdateAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import { PromptService } from "#proto/core/v1/prompt_service_pb.js";
import {
  type ListAvailableResourcesRequestSchema,
  ResourceKind,
  ResourceService,
} from "#proto/core/v1/resource_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

// What agents are given of the other kinds, and the list that names it.

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const unary = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  who: string,
) => rig.dispatch.unary(method, request, as(who));

type New = { readonly name?: string; readonly sharing?: { to: string; tier: Tier }[]; readonly enabled?: boolean };

/** Makes one of a kind. */
const MAKE = {
  skill: async (who: string, more: New = {}) =>
    (await unary(SkillService.method.createSkill, { name: "s", description: "d", instructions: "i", ...more }, who))
      .skill!,
  prompt: async (who: string, more: New = {}) =>
    (await unary(PromptService.method.createPrompt, { name: "p", template: "t", ...more }, who)).prompt!,
  variable: async (who: string, more: New = {}) =>
    (await unary(VariableService.method.createVariable, { name: "V", value: "v", ...more }, who)).variable!,
  custom_tool: async (who: string, more: New = {}) => {
    const request = { name: "t", description: "d", method: "get", url: "https://example.com/", ...more };
    return (await unary(CustomToolService.method.createCustomTool, request, who)).customTool!;
  },
  mcp_server: async (who: string, more: New = {}) =>
    (await unary(McpServerService.method.createMcpServer, { name: "m", url: "https://example.com/", ...more }, who))
      .mcpServer!,
  integration: async (who: string, more: New = {}) => {
    const request = {
      name: "i",
      type: IntegrationType.OPENAI,
      endpoint: "https://example.com/",
      models: ["m"],
      ...more,
    };
    return (await unary(IntegrationService.method.createIntegration, request, who)).integration!;
  },
};
type Kind = keyof typeof MAKE;
const KINDS = Object.keys(MAKE) as Kind[];

const DELETE: Readonly<Record<Kind, (id: string) => Promise<unknown>>> = {
  skill: (skillId) => unary(SkillService.method.deleteSkill, { skillId }, "alice"),
  prompt: (promptId) => unary(PromptService.method.deletePrompt, { promptId }, "alice"),
  variable: (variableId) => unary(VariableService.method.deleteVariable, { variableId }, "alice"),
  custom_tool: (customToolId) => unary(CustomToolService.method.deleteCustomTool, { customToolId }, "alice"),
  mcp_server: (mcpServerId) => unary(McpServerService.method.deleteMcpServer, { mcpServerId }, "alice"),
  integration: (integrationId) => unary(IntegrationService.method.deleteIntegration, { integrationId }, "alice"),
};

const { createAgent, updateAgent, getAgent, listAgents } = AgentService.method;
const create = async (who: string, resourceIds: string[], more: New = {}) =>
  (await unary(createAgent, { name: "Agent", resourceIds, ...more }, who)).agent!;
const update = async (who: string, request: MessageInitShape<typeof UpdateAgentRequestSchema>) =>
  (await unary(updateAgent, request, who)).agent!;
const list = (who: string, request: MessageInitShape<typeof ListAvailableResourcesRequestSchema> = {}) =>
  unary(ResourceService.method.listAvailableResources, request, who);

async function oneOfEach(who: string, more: New = {}): Promise<Record<Kind, string>> {
  const made = await Promise.all(KINDS.map(async (kind) => [kind, (await MAKE[kind](who, more)).id] as const));
  return Object.fromEntries(made) as Record<Kind, string>;
}

test("an agent is given of every kind by id alone, shows each by name, and loses it again", async () => {
  const ids = await oneOfEach("alice");
  const { id } = await create("alice", Object.values(ids));
  const agent = (await unary(getAgent, { agentId: id }, "alice")).agent!;
  const shown = {
    skill: agent.skills,
    prompt: agent.prompts,
    variable: agent.variables,
    custom_tool: agent.customTools,
    mcp_server: agent.mcpServers,
    integration: [agent.integration!],
  };
  for (const kind of KINDS) expect(shown[kind]).toMatchObject([{ id: ids[kind], name: expect.stringMatching(/^.$/) }]);
  const { agents } = await unary(listAgents, { query: "Agent" }, "alice");
  const row = agents.find((one) => one.id === id)!;
  expect([row.prompts, row.variables, row.customTools, row.mcpServers, row.integration]).toEqual([
    [],
    [],
    [],
    [],
    undefined,
  ]);
  const without = await update("alice", { agentId: id, removeResourceIds: Object.values(ids) });
  expect([without.skills, without.prompts, without.variables, without.customTools, without.mcpServers]).toEqual(
    Array.from({ length: 5 }, () => []),
  );
  expect(without.integration).toBeUndefined();
});

test.each(KINDS)("a %s that an agent uses is not deleted, and the refusal names the agent", async (kind) => {
  const { id } = await MAKE[kind]("alice");
  const agent = await create("alice", [id], { name: `Uses a ${kind}` });
  const [code, said] = await refusal(DELETE[kind](id));
  expect(code).toBe("FailedPrecondition");
  expect(said).toMatch(/^agents use this [\w ]+: Uses a /);
  expect(said).toContain(`(${agent.id}): detach it with update_agent and remove_resource_ids`);
  await update("alice", { agentId: agent.id, removeResourceIds: [id] });
  await DELETE[kind](id);
});

test("an integration takes the place of the one before, and two at once are refused", async () => {
  const [one, other] = [(await MAKE.integration("alice")).id, (await MAKE.integration("alice")).id];
  const { id } = await create("alice", [one]);
  expect((await update("alice", { agentId: id, addResourceIds: [other] })).integration?.id).toBe(other);
  expect(await refusal(create("alice", [one, other]))).toEqual([
    "InvalidArgument",
    `an agent can have only one integration: give one of ${one}, ${other}`,
  ]);
});

test("what the caller cannot see is not attached, and looks like what there is not", async () => {
  const { variable } = await oneOfEach("alice");
  const said = async (id: string) => (await refusal(create("bob", [id])))[1].replace(id, "<id>");
  expect(await said(variable)).toBe(await said("no-such"));
  expect(await said(variable)).toBe(
    "no object that you can see and attach has the id <id>; list_available_resources returns the ids",
  );
  const { id } = await create("alice", [variable], { sharing: [{ to: "user:bob", tier: Tier.CONFIG }] });
  const kept = await update("bob", { agentId: id, description: "by bob" });
  expect(kept.variables).toMatchObject([{ id: variable }]);
  expect(kept.variables[0]?.name).toBeUndefined();
});

test("what can be attached is listed kind by kind, on pages of any size, each once", async () => {
  await oneOfEach("carl");
  const { id: disabled } = await MAKE.prompt("carl", { enabled: false });
  const whole = await list("carl", { pageSize: 100 });
  expect(whole.resources.filter(({ enabled }) => !enabled)).toMatchObject([
    { id: disabled, kind: ResourceKind.PROMPT },
  ]);
  const rows = whole.resources.map(({ id, kind }) => `${kind} ${id}`);
  expect(new Set(rows).size).toBe(rows.length);
  expect(whole.totalSize).toBe(rows.length);
  expect(whole.nextPageToken).toBeUndefined();
  const kinds = whole.resources.map(({ kind }) => kind);
  expect([...new Set(kinds)]).toHaveLength(KINDS.length);
  expect(kinds.toString()).toBe([...new Set(kinds)].flatMap((kind) => kinds.filter((one) => one === kind)).toString());
  for (const pageSize of [1, 2, 3, 5]) {
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await list("carl", { pageSize, pageToken });
      expect(page.totalSize).toBeUndefined();
      expect(page.resources.length).toBeLessThanOrEqual(pageSize);
      seen.push(...page.resources.map(({ id, kind }) => `${kind} ${id}`));
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    expect(seen).toEqual(rows);
  }
});

test("it is narrowed by kind and words, and shows nobody what they cannot read", async () => {
  const { id } = await MAKE.mcp_server("alice", {
    name: "only-for-bob",
    sharing: [{ to: "user:bob", tier: Tier.VIEW }],
  });
  const ids = async (who: string, request = {}) => (await list(who, request)).resources.map((one) => one.id);
  expect(await ids("bob", { query: "only-for-bob" })).toEqual([id]);
  expect(await ids("bob", { query: "only-for-bob", kind: ResourceKind.PROMPT })).toEqual([]);
  expect(await ids("bob", { kind: ResourceKind.MCP_SERVER })).toEqual([id]);
  for (const who of ["carl", "root"]) expect(await ids(who, { query: "only-for-bob" })).toEqual([]);
  const { nextPageToken = "" } = await list("carl", { pageSize: 1 });
  expect((await refusal(list("carl", { kind: ResourceKind.INTEGRATION, pageToken: nextPageToken })))[1]).toContain(
    "page_token is not from this list",
  );
});

test("an agent is copied from a built-in one, with what is given instead and besides", async () => {
  const templateId = "builtin.threat-analyst";
  const template = (await unary(getAgent, { agentId: templateId }, "alice")).agent!;
  const { integration } = await oneOfEach("alice");
  const request = { name: "Mine", templateId, tools: ["cti/extra_tool"], resourceIds: [integration] };
  const mine = (await unary(createAgent, request, "alice")).agent!;
  expect(mine).toMatchObject({ name: "Mine", description: "", instructions: template.instructions });
  expect(mine.skills).toEqual(template.skills);
  expect(mine.tools).toEqual([...template.tools, "cti/extra_tool"]);
  expect(mine.integration?.id).toBe(integration);
  const other = (await unary(createAgent, { name: "Other", templateId, instructions: "Mine.", model: "m" }, "alice"))
    .agent!;
  expect(other).toMatchObject({ instructions: "Mine.", model: "m" });
  expect((await unary(getAgent, { agentId: templateId }, "alice")).agent).toEqual(template);
});

test("of an agent that another shares, what one cannot see is left out of the copy; of a hidden one nothing is copied", async () => {
  const [hidden, seen] = [
    await oneOfEach("alice"),
    await oneOfEach("alice", { sharing: [{ to: "user:bob", tier: Tier.VIEW }] }),
  ];
  const ids = [hidden.prompt, seen.prompt, hidden.variable, hidden.integration];
  const { id } = await create("alice", ids, { sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  const copy = (await unary(createAgent, { name: "Copy", templateId: id }, "bob")).agent!;
  expect([copy.prompts.map((one) => one.id), copy.variables, copy.integration]).toEqual([[seen.prompt], [], undefined]);
  expect(await refusal(unary(createAgent, { name: "Copy", templateId: id }, "carl"))).toEqual([
    "NotFound",
    `no agent that you can see has the id ${id}; list_agents returns the ids`,
  ]);
});
