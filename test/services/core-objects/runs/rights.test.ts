import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { PromptService } from "#proto/core/v1/prompt_service_pb.js";
import { RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { plainEmbedders } from "../knowledge/plain-embedder.js";
import { as } from "../rig.js";
import { results } from "./model-server.js";
import { startStage } from "./stage.js";

// What an agent was given is looked into as whoever triggered the run, as their rights are at each step.

let stage: Awaited<ReturnType<typeof startStage>>;
beforeAll(async () => {
  stage = await startStage({ knowledge: { embedders: plainEmbedders(), pollMs: 20, leaseMs: 200 } });
});
afterAll(() => stage.close());

const call: typeof stage.rig.dispatch.unary = (...request) => stage.rig.dispatch.unary(...request);
const share = [{ to: "user:bob", tier: Tier.VIEW }];
const unshare = ["user:bob"];

async function given() {
  const { skill } = await call(
    SkillService.method.createSkill,
    {
      ...{ name: "triage", description: "d", instructions: "First, breathe.", sharing: share },
      files: [{ path: "references/more.md", text: "More of it." }],
    },
    as("alice"),
  );
  const { prompt } = await call(
    PromptService.method.createPrompt,
    { name: "hand-over", template: "Since {{since}}.", arguments: [{ name: "since" }], sharing: share },
    as("alice"),
  );
  const made = await call(
    KnowledgeBaseService.method.createKnowledgeBase,
    { name: "Runbooks", sharing: share },
    as("alice"),
  );
  const knowledgeBaseId = made.knowledgeBase!.id;
  const added = await call(
    DocumentService.method.createDocument,
    { knowledgeBaseId, name: "Phishing", content: "Block the sender at the gateway." },
    as("alice"),
  );
  const documentId = added.document!.id;
  await vi.waitFor(async () => {
    const { document } = await call(DocumentService.method.readDocument, { documentId }, as("alice"));
    expect(document!.state).toBe(DocumentState.READY);
  });
  return { skillId: skill!.id, promptId: prompt!.id, knowledgeBaseId };
}

const CALLS = [
  { call: "load_skill", args: { skill: "triage" } },
  { call: "read_skill_resource", args: { skill: "triage", path: "references/more.md" } },
  { call: "render_prompt", args: { prompt: "hand-over", arguments: { since: "06:00" } } },
  { call: "search_knowledge", args: { query: "block the sender" } },
];

test("skills, prompts and knowledge are looked into as who triggered it, and what is taken away is refused at the next step", async () => {
  const { skillId, promptId, knowledgeBaseId } = await given();
  const resourceIds = [skillId, promptId, knowledgeBaseId, await stage.integrate({ sharing: share })];
  const agent = await stage.agent({ resourceIds, sharing: share });
  stage.script.reply = async (asked) => {
    const turn = results(asked).length / CALLS.length;
    if (turn === 2) return "Done.";
    if (turn === 1) {
      await call(SkillService.method.updateSkill, { skillId, unshare }, as("alice"));
      await call(PromptService.method.updatePrompt, { promptId, unshare }, as("alice"));
      await call(KnowledgeBaseService.method.updateKnowledgeBase, { knowledgeBaseId, unshare }, as("alice"));
    }
    return { calls: CALLS };
  };
  const run = await stage.rested((await stage.trigger(agent, {}, "bob")).id, "bob");
  expect(run).toMatchObject({ state: RunState.COMPLETED });
  const said = results(stage.model.asked.at(-1)!);
  for (const [n, text] of ["First, breathe.", "More of it.", "Since 06:00.", "Block the sender"].entries())
    expect(said[n]).toContain(text);
  for (const refused of said.slice(CALLS.length))
    expect(refused).toMatch(/^this run has no (?:skill|prompt|knowledge base) any more that you can see/);
  const steps = (await stage.steps(run.id)).filter(({ kind }) => kind === "tool");
  expect(steps.map(({ state }) => state)).toEqual([...CALLS.map(() => "completed"), ...CALLS.map(() => "failed")]);
});

test("an agent that is shared with whoever triggered it no longer ends their run", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate({ sharing: share })], sharing: share });
  stage.script.reply = async () => {
    await call(AgentService.method.updateAgent, { agentId: agent, unshare }, as("alice"));
    return { call: "ask_user", args: { question: "Shall I go on?" } };
  };
  const run = await stage.rested((await stage.trigger(agent, {}, "bob")).id, "bob");
  expect(run).toMatchObject({ state: RunState.FAILED, error: { reason: RunErrorReason.AGENT_UNAVAILABLE } });
  expect(run.error?.message).toContain("no longer shared with you");
});

test("a tool that is taken from the agent meanwhile is not called any more", async () => {
  const resourceIds = [await stage.integrate()];
  const agent = await stage.agent({ resourceIds, tools: ["core/list_agents", "core/delete_agent"] });
  const other = await stage.agent();
  stage.script.reply = async (asked) => {
    if (results(asked).length === 1) return "Done.";
    await call(AgentService.method.updateAgent, { agentId: agent, removeTools: ["core/delete_agent"] }, as("alice"));
    return { call: "core__delete_agent", args: { agent_id: other } };
  };
  const run = await stage.rested((await stage.trigger(agent)).id);
  expect(results(stage.model.asked.at(-1)!)).toEqual(["there is no such tool"]);
  expect(run.state).toBe(RunState.COMPLETED);
  const { agent: kept } = await call(AgentService.method.getAgent, { agentId: other }, as("alice"));
  expect(kept?.id).toBe(other);
});
