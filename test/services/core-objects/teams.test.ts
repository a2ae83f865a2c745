import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import { PromptService } from "#proto/core/v1/prompt_service_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";
import { loadKinds } from "../../../services/core-objects/service.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { refusal } from "./refusal.js";
import { as } from "./rig.js";
import { startStage } from "./runs/stage.js";

// What people of a group do with each other's objects.

let stage: Awaited<ReturnType<typeof startStage>>;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

const tools = readTools(readImage());
const call = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: object,
  who = "alice",
) => stage.rig.dispatch.unary(method, request as MessageInitShape<I>, as(who));
const agents = AgentService.method;
const assignments = AssignmentService.method;
let made = 0;
const name = (): string => `n${made++}`;

/** Makes one of a kind. @returns its id. */
const MAKE: Readonly<Record<string, (more?: object, who?: string) => Promise<string>>> = {
  agent: async (more = {}, who) => (await call(agents.createAgent, { name: name(), ...more }, who)).agent!.id,
  assignment: async (more = {}, who) =>
    (await call(assignments.createAssignment, { name: name(), input: "Look.", ...more }, who)).assignment!.id,
  skill: async (more = {}, who) =>
    (await call(SkillService.method.createSkill, { name: name(), description: "d", instructions: "i", ...more }, who))
      .skill!.id,
  prompt: async (more = {}, who) =>
    (await call(PromptService.method.createPrompt, { name: name(), template: "t", ...more }, who)).prompt!.id,
  variable: async (more = {}, who) =>
    (await call(VariableService.method.createVariable, { name: `V_${made++}`, value: "v", ...more }, who)).variable!.id,
  "custom tool": async (more = {}, who) => {
    const request = { name: name(), description: "d", method: "get", url: "https://x.example.com/", ...more };
    return (await call(CustomToolService.method.createCustomTool, request, who)).customTool!.id;
  },
  "MCP server": async (more = {}, who) =>
    (await call(McpServerService.method.createMcpServer, { name: name(), url: "http://127.0.0.1:4/mcp", ...more }, who))
      .mcpServer!.id,
  integration: async (more = {}, who) => {
    const models = { type: IntegrationType.OPENAI, endpoint: "http://127.0.0.1:4/v1", models: ["large"] };
    return (await call(IntegrationService.method.createIntegration, { name: name(), ...models, ...more }, who))
      .integration!.id;
  },
  "knowledge base": async (more = {}, who) =>
    (await call(KnowledgeBaseService.method.createKnowledgeBase, { name: name(), ...more }, who)).knowledgeBase!.id,
};

const DELETE: Readonly<Record<string, readonly [DescMethodUnary, string]>> = {
  agent: [agents.deleteAgent, "agentId"],
  skill: [SkillService.method.deleteSkill, "skillId"],
  prompt: [PromptService.method.deletePrompt, "promptId"],
  variable: [VariableService.method.deleteVariable, "variableId"],
  "custom tool": [CustomToolService.method.deleteCustomTool, "customToolId"],
  "MCP server": [McpServerService.method.deleteMcpServer, "mcpServerId"],
  integration: [IntegrationService.method.deleteIntegration, "integrationId"],
  "knowledge base": [KnowledgeBaseService.method.deleteKnowledgeBase, "knowledgeBaseId"],
};
const remove = (noun: string, id: string, who = "alice", more: object = {}) => {
  const [method, member] = DELETE[noun]!;
  return call(method, { [member]: id, ...more }, who);
};

/** How one refers to another, and how a refusal says that it no longer does. */
interface Use {
  readonly use: (used: string) => Promise<string>;
  readonly end: (user: string, used: string) => Promise<unknown>;
}
const attached: Use = {
  use: (used) => MAKE.agent!({ resourceIds: [used] }),
  end: (agentId, used) => call(agents.updateAgent, { agentId, removeResourceIds: [used] }),
};
const USES: Readonly<Record<string, Use>> = {
  "agent skills": attached,
  "agent prompts": attached,
  "agent variables": attached,
  "agent custom_tools": attached,
  "agent mcp_servers": attached,
  "agent integrations": attached,
  "agent knowledge_bases": attached,
  "agent fallback_integration": {
    use: (fallbackIntegrationId) => MAKE.agent!({ fallbackIntegrationId }),
    end: (agentId) => call(agents.updateAgent, { agentId, fallbackIntegrationId: "" }),
  },
  "assignment agent": {
    use: (agentId) => MAKE.assignment!({ agentId }),
    end: (assignmentId) => call(assignments.deleteAssignment, { assignmentId }),
  },
  "custom tool headers.variable": {
    use: (variableId) => MAKE["custom tool"]!({ headers: [{ name: "X-Key", variableId }] }),
    end: (customToolId) => call(CustomToolService.method.updateCustomTool, { customToolId, removeHeaders: ["X-Key"] }),
  },
  "knowledge base integrations": {
    use: (integrationId) => MAKE["knowledge base"]!({ integrationId }),
    end: (knowledgeBaseId) =>
      call(KnowledgeBaseService.method.updateKnowledgeBase, { knowledgeBaseId, integrationId: "" }),
  },
};

/** The tools that a sentence names, each with the arguments after it, are there. */
function expectWays(said: string): void {
  const words = said.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
  const named = words.filter((word) => tools.some((one) => one.server === "core" && one.name === word));
  expect(named.length, said).toBeGreaterThan(0);
  const known = new Set(
    named.flatMap((word) => {
      const tool = tools.find((one) => one.server === "core" && one.name === word)!;
      return Object.keys((tool.listing.inputSchema as { properties: object }).properties);
    }),
  );
  for (const word of words.filter((one) => !named.includes(one))) expect(known, `${word} in: ${said}`).toContain(word);
}

test("every refusal to delete what something refers to names a way that exists, and that way works", async () => {
  const walked: string[] = [];
  for (const kind of await loadKinds()) {
    for (const [field, noun] of Object.entries(kind.references)) {
      const way = `${kind.noun} ${field}`;
      const { use, end } = USES[way]!;
      const used = await MAKE[noun]!();
      const user = await use(used);
      const [code, said] = await refusal(remove(noun, used));
      expect([way, code]).toEqual([way, "FailedPrecondition"]);
      expect(said).toContain(`(${user})`);
      expectWays(said);
      await end(user, used);
      await remove(noun, used);
      walked.push(way);
    }
  }
  expect(walked.sort()).toEqual(Object.keys(USES).sort());
});

test("what only others can detach is turned off, as the refusal says, and their agent goes on without it", async () => {
  const skill = await MAKE.skill!({ sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  await MAKE.agent!({ resourceIds: [skill] }, "bob");
  const [code, said] = await refusal(remove("skill", skill));
  expect([code, said]).toEqual(["FailedPrecondition", expect.stringContaining("1 that you cannot see")]);
  expectWays(said);
  await call(SkillService.method.updateSkill, { skillId: skill, enabled: false });
});

test("an assignment is deleted by who manages it; a run that it began goes on and is named", async () => {
  stage.script.reply = () => ({ call: "ask_user", args: { question: "Which?" } });
  const integration = await stage.integrate();
  const agentId = await MAKE.agent!({ resourceIds: [integration], model: "large" });
  const assignmentId = await MAKE.assignment!({
    agentId,
    schedule: "0 7 * * *",
    sharing: [{ to: "user:bob", tier: Tier.CONFIG }],
  });
  let runId = "";
  for await (const { event } of stage.rig.dispatch.stream(
    assignments.triggerAssignment,
    { assignmentId, waitSeconds: 20 },
    as("alice"),
  ))
    if (event.case === "result") runId = event.value.run!.id;
  expect((await refusal(call(assignments.deleteAssignment, { assignmentId }, "bob")))[0]).toBe("PermissionDenied");
  expect((await refusal(call(assignments.deleteAssignment, { assignmentId }, "carl")))[0]).toBe("NotFound");
  expect(await call(assignments.deleteAssignment, { assignmentId })).toMatchObject({
    id: assignmentId,
    unfinishedRuns: [{ id: runId }],
  });
  const { run } = await call(RunService.method.getRun, { runId });
  expect(run).toMatchObject({ question: "Which?", assignment: { id: assignmentId } });
  await call(RunService.method.updateRun, { runId, cancel: true });
  expect((await refusal(call(assignments.getAssignment, { assignmentId })))[0]).toBe("NotFound");
});

test("an agent goes with the assignments of who deletes it, once asked for; those of others stop and say why", async () => {
  const agentId = await MAKE.agent!({ sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  const own = await MAKE.assignment!({ agentId });
  const bobs = await MAKE.assignment!({ agentId, schedule: "0 7 * * *" }, "bob");
  const [code, said] = await refusal(remove("agent", agentId));
  expect(code).toBe("FailedPrecondition");
  expect(said).toContain(`(${own})`);
  expect(said).toContain("1 that you cannot see");
  expectWays(said);
  expect(await remove("agent", agentId, "alice", { deleteAssignments: true })).toMatchObject({
    id: agentId,
    deletedAssignments: [{ id: own }],
    stoppedAssignments: 1,
  });
  const { assignment } = await call(assignments.getAssignment, { assignmentId: bobs }, "bob");
  expect(assignment).toMatchObject({ enabled: false, pausedReason: expect.stringContaining("its agent was deleted") });
  expect(assignment?.nextRunAt).toBeUndefined();
  await call(
    assignments.updateAssignment,
    { assignmentId: bobs, agentId: "builtin.threat-analyst", enabled: true },
    "bob",
  );
});

/** An agent of alice's with one part of each kind. */
async function withParts(more: object = {}): Promise<{ agentId: string; parts: Record<string, string> }> {
  const parts: Record<string, string> = {};
  for (const noun of Object.keys(DELETE).filter((one) => one !== "agent")) parts[noun] = await MAKE[noun]!();
  return { agentId: await MAKE.agent!({ resourceIds: Object.values(parts), ...more }), parts };
}

test("sharing an agent names each part that the others cannot use, and shares them in the same call if asked", async () => {
  const { agentId, parts } = await withParts();
  const share = [{ to: "user:bob", tier: Tier.VIEW }];
  const { unsharedParts } = await call(agents.updateAgent, { agentId, share });
  expect(unsharedParts.map(({ kind, id }) => [kind, id]).sort()).toEqual(Object.entries(parts).sort());
  for (const part of unsharedParts) expect(part).toMatchObject({ others: ["user:bob"], youCanShare: true });
  const again = await call(agents.updateAgent, { agentId, share, shareParts: true });
  expect(again.unsharedParts).toEqual([]);
  const seen = await call(agents.getAgent, { agentId }, "bob");
  for (const one of [seen.agent!.skills, seen.agent!.knowledgeBases, seen.agent!.customTools].flat())
    expect(one.name).toBeDefined();
  const added = await MAKE.skill!();
  const more = await call(agents.updateAgent, { agentId, addResourceIds: [added] });
  expect(more.unsharedParts).toMatchObject([{ kind: "skill", id: added, others: ["user:bob"] }]);
});

test("a group that has a part gives it to its members; everyone lacks what a group has", async () => {
  const skill = await MAKE.skill!({ sharing: [{ to: "group:soc", tier: Tier.VIEW }] });
  const agentId = await MAKE.agent!({ resourceIds: [skill] });
  const shared = async (to: string) =>
    (await call(agents.updateAgent, { agentId, share: [{ to, tier: Tier.VIEW }], unshare: [] })).unsharedParts;
  expect(await shared("user:bob")).toEqual([]);
  expect(await shared("group:soc")).toEqual([]);
  expect(await shared("user:carl")).toMatchObject([{ id: skill, others: ["user:carl"] }]);
  expect(await shared("everyone")).toMatchObject([{ id: skill, others: ["user:carl", "everyone"] }]);
});

test("who cannot share a part is refused before anything is shared", async () => {
  const skill = await MAKE.skill!({ sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  const own = await MAKE.skill!({}, "bob");
  const agentId = await MAKE.agent!({ resourceIds: [own, skill] }, "bob");
  const share = [{ to: "user:carl", tier: Tier.VIEW }];
  const [code, said] = await refusal(call(agents.updateAgent, { agentId, share, shareParts: true }, "bob"));
  expect([code, said]).toEqual(["PermissionDenied", expect.stringContaining(skill)]);
  expect(said).not.toContain(own);
  expect((await refusal(call(agents.getAgent, { agentId }, "carl")))[0]).toBe("NotFound");
  const { unsharedParts } = await call(agents.updateAgent, { agentId, share }, "bob");
  expect(unsharedParts.map(({ id, youCanShare }) => [id, youCanShare]).sort()).toEqual(
    [
      [own, true],
      [skill, false],
    ].sort(),
  );
});

test("an assignment that is shared names its agent and that agent's parts, and is created with them shared", async () => {
  const { agentId, parts } = await withParts();
  const request = { name: "Shared", input: "Look.", agentId, sharing: [{ to: "user:bob", tier: Tier.VIEW }] };
  const { unsharedParts } = await call(assignments.createAssignment, request);
  expect(unsharedParts.map(({ id }) => id).sort()).toEqual([agentId, ...Object.values(parts)].sort());
  const made = await call(assignments.createAssignment, { ...request, shareParts: true });
  expect(made.unsharedParts).toEqual([]);
  expect((await call(agents.getAgent, { agentId }, "bob")).agent?.id).toBe(agentId);
});

test("a run of somebody else's agent says what it works without", async () => {
  stage.script.reply = () => "Done.";
  const integration = await stage.integrate({ sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  const [skill, base] = [await MAKE.skill!(), await MAKE["knowledge base"]!()];
  const off = await MAKE.prompt!({ enabled: false, sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  const agentId = await MAKE.agent!({
    resourceIds: [integration, skill, base, off],
    model: "large",
    tools: ["core/trigger_run", "core/list_agents"],
    sharing: [{ to: "user:bob", tier: Tier.VIEW }],
  });
  const mine = await stage.rested((await stage.trigger(agentId)).id);
  expect(mine.leftOut).toHaveLength(2);
  const { leftOut } = await stage.rested((await stage.trigger(agentId, {}, "bob")).id, "bob");
  expect(leftOut).toEqual([
    `skill ${skill}: not shared with you, or deleted; ask the agent's owner`,
    expect.stringContaining(`(${off}): it is disabled`),
    `knowledge base ${base}: not shared with you, or deleted; ask the agent's owner`,
    "tool core/trigger_run: you cannot use it, or there is no such tool",
  ]);
});

test("an agent is refused tools that do not exist, with the nearest name, and nothing is changed", async () => {
  const refused = (request: object) => refusal(call(agents.createAgent, { name: "x", ...request }));
  const [code, said] = await refused({ tools: ["cti/search_entitys", "cti/get_*", "nope/x", "core/zzzzzzzzzzz"] });
  expect(code).toBe("InvalidArgument");
  expect(said).toContain("cti/search_entitys (did you mean cti/search_entities?)");
  expect(said).toContain("nope/x (servers are ");
  expect(said).toContain("core/zzzzzzzzzzz");
  expect(said).not.toContain("cti/get_*");
  const agentId = await MAKE.agent!({ tools: ["cti/*", "mcp/whatever", "grc/list_*"] });
  const update = call(agents.updateAgent, { agentId, addTools: ["aev/list_scenarois"], name: "changed" });
  await expect(update).rejects.toMatchObject({ code: Code.InvalidArgument });
  expect((await call(agents.getAgent, { agentId })).agent).toMatchObject({
    tools: ["cti/*", "mcp/whatever", "grc/list_*"],
  });
  expect(ConnectError.from(await update.catch((error) => error)).rawMessage).toContain("aev/list_scenarios");
});
