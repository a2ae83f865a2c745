import { setTimeout } from "node:timers/promises";
import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { DocumentService } from "#proto/core/v1/document_service_pb.js";
import { IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import { PromptService } from "#proto/core/v1/prompt_service_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { type RunRecord, type StepRecord, stepId } from "../../services/core-objects/runs/record.js";
import { silentLog } from "../../services/shared/process/log.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { createTracesService } from "../../services/traces/service.js";
import { plainEmbedders } from "../services/core-objects/knowledge/plain-embedder.js";
import { as, type Rig, startRig } from "../services/core-objects/rig.js";
import { recorded as exchange, startAevAnswering } from "../services/platform-proxy/platforms/aev/answering.js";
import { answered, startCtiAnswering } from "../services/platform-proxy/platforms/cti/answering.js";
import { answer, startGrcAnswering, whoAmI } from "../services/platform-proxy/platforms/grc/answering.js";
import { exportOf, newSpanId, newTraceId } from "../services/traces/spans.js";
import { startAev, startAevAt } from "../support/platforms/aev.js";
import { startCti, startCtiAt } from "../support/platforms/cti.js";
import { startGrc, startGrcAt } from "../support/platforms/grc.js";
import type { Harness } from "../support/platforms/harness.js";
import type { Recorded } from "./questions.js";

/** Where tools are asked: in front of something that answers. */
export interface Stage {
  ask(method: DescMethodUnary, request: Message): Promise<Message>;
  /** Gives these answers from now on; of a stage that gives recorded ones. */
  play?(answers: readonly Recorded[]): void;
  close(): Promise<void>;
}

const inFrontOf = (harness: Harness, person: string): Stage => ({
  ask: (method, request) => harness.call(method, request as never, person),
  close: () => harness.close(),
});

/** The tools in front of the built-in platforms, and core with what a team keeps in it. */
export const BUILT_IN: Readonly<Record<string, () => Promise<Stage>>> = {
  cti: async () => inFrontOf(await startCti(), "analyst"),
  aev: async () => inFrontOf(await startAev({ now: () => NOW }), "analyst"),
  grc: async () => inFrontOf(await startGrc("bearer"), "officer"),
  core: startCore,
};

/** The tools in front of what the real platforms answered. */
export const RECORDED: Readonly<Record<string, () => Promise<Stage>>> = {
  async cti() {
    const platform = await startCtiAnswering();
    const play = (answers: readonly Recorded[]): void => {
      platform.script([]);
      for (const { of, path, more } of answers.map(spelled)) {
        const [[field, value] = ["", null]] = Object.entries(answered(of as string));
        platform.give({ [path ?? field]: more === undefined ? value : { ...(value as object), ...more } });
      }
    };
    return before(platform, await startCtiAt(platform.url), "analyst", play);
  },
  async aev() {
    const platform = await startAevAnswering();
    const play = (answers: readonly Recorded[]): void =>
      platform.play(
        ...answers.map(spelled).map(({ of, path, more }) => ({
          ...exchange(of as string),
          ...(path && { path }),
          ...(more && { answer: more }),
        })),
      );
    return before(platform, await startAevAt(platform.url), "observer", play);
  },
  async grc() {
    const platform = await startGrcAnswering();
    const play = (answers: readonly Recorded[]): void => {
      for (const { of, path, more } of answers.map(spelled)) {
        const one = answer(of as number);
        platform.on(more === undefined ? one : { ...one, answer: more }, path);
      }
    };
    play([332, 6]);
    platform.on(whoAmI());
    platform.on({ ...answer(114), path: "/api/iam/logout/", method: "POST" });
    return before(platform, await startGrcAt(platform.url, "exchange"), "analyst@example.test", play);
  },
};

const spelled = (recorded: Recorded) =>
  typeof recorded === "object" ? recorded : { of: recorded, path: undefined, more: undefined };

function before(
  platform: { close(): Promise<void> },
  harness: Harness,
  person: string,
  play: (answers: readonly Recorded[]) => void,
): Stage {
  return {
    ...inFrontOf(harness, person),
    play,
    async close() {
      await harness.close();
      await platform.close();
    },
  };
}

const NOW = Date.parse("2026-11-22T09:00:00.123Z");
const WORDS = "Summarise what happened to the endpoint and say which controls failed and why. ".repeat(10);

/** An object that is chosen by its name: a sentence says what it is for. */
const object = (i: number) => ({
  name: `object-${10 + i}`,
  description: "Says in a sentence of usual length what it is for, and when to use it.",
  labels: ["triage", "soc"],
});

async function startCore(): Promise<Stage> {
  const rig = await startRig({ knowledge: { embedders: plainEmbedders() } });
  const { store, peers } = rig;
  rig.add(await createTracesService({ store, peers, log: silentLog, retentionDays: 60 }));
  const tools = readTools(readImage()).flatMap(({ server, name }) => (server === "cti" ? [`cti/${name}`] : []));
  const call = rig.dispatch.unary;
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const request = { name: `object-${10 + i}`, description: WORDS, instructions: WORDS, labels: ["triage", "soc"] };
      await call(SkillService.method.createSkill, request, as("alice"));
      await call(AgentService.method.createAgent, { ...request, tools }, as("alice"));
      const task = { ...object(i), agentId: "builtin.threat-analyst", input: WORDS, schedule: "0 7 * * 1-5" };
      await call(AssignmentService.method.createAssignment, task, as("alice"));
      await runOf(rig);
      await call(PromptService.method.createPrompt, { ...object(i), template: WORDS }, as("alice"));
      const tool = { ...object(i), name: `look_up_${10 + i}`, method: "get", url: "https://example.com/" };
      await call(CustomToolService.method.createCustomTool, tool, as("alice"));
      const models = {
        endpoint: "https://models.example.com/v1",
        models: ["large", "small"],
        credential: "of-this-team",
      };
      const integration = { ...object(i), ...models, type: IntegrationType.OPENAI };
      await call(IntegrationService.method.createIntegration, integration, as("alice"));
      const remote = {
        url: "https://mcp.example.com/mcp",
        headers: [{ name: "Authorization", value: "of this team" }],
      };
      await call(McpServerService.method.createMcpServer, { ...object(i), ...remote }, as("alice"));
      await call(KnowledgeBaseService.method.createKnowledgeBase, object(i), as("alice"));
      const variable = { ...object(i), name: `OBJECT_${10 + i}`, value: WORDS };
      await call(VariableService.method.createVariable, { ...variable, secret: i % 2 === 0 }, as("alice"));
      await call(TraceService.method.export, traceOf(i), as("alice", "traces"));
    }),
  );
  const { knowledgeBases } = await call(KnowledgeBaseService.method.listKnowledgeBases, { pageSize: 1 }, as("alice"));
  const knowledgeBaseId = knowledgeBases[0]!.id;
  for (let i = 0; i < 20; i++) {
    const request = { knowledgeBaseId, name: `Runbook ${10 + i} of the SOC`, content: WORDS };
    await call(DocumentService.method.createDocument, request, as("alice"));
  }
  // Searchable all of them: how far they are would be another number each time.
  const read = () => call(KnowledgeBaseService.method.getKnowledgeBase, { knowledgeBaseId }, as("alice"));
  for (let now = await read(); now.waitingCount + (now.wordsCount ?? 0) > 0; now = await read()) await setTimeout(20);
  return {
    ask: (method, request) =>
      rig.dispatch.unary(
        method,
        request,
        // The traces of all agents are listed by administrators alone.
        method.parent.typeName.startsWith("core.") ? as("alice") : as("root", "traces"),
      ),
    close: () => rig.close(),
  };
}

/** A run with as many steps as one page has. */
async function runOf({ dispatch, store }: Rig): Promise<void> {
  const request = { agentId: "builtin.threat-analyst", input: WORDS };
  let id = "";
  for await (const { event } of dispatch.stream(RunService.method.triggerRun, request, as("alice")))
    if (event.case === "result") id = event.value.run!.id;
  const ended_at = new Date();
  await store.collection<RunRecord>("runs").updateOne({ _id: id }, { $set: { state: "completed", ended_at } });
  const step = { run: id, kind: "tool" as const, name: "cti/list_indicators", state: "completed" as const };
  const texts = { input: WORDS, output: WORDS, calls: [], call: "call_1", span: "00f067aa0ba902b7" };
  const facts = {
    input_tokens: 0,
    output_tokens: 0,
    started_at: ended_at,
    ended_at,
    expires_at: new Date("2100-01-01"),
  };
  const steps = Array.from({ length: 20 }, (_, n) => ({
    ...step,
    ...texts,
    ...facts,
    _id: stepId(id, n + 1),
    number: n + 1,
  }));
  await store.collection<StepRecord>("run_steps").insertMany(steps);
}

function traceOf(index: number) {
  const [trace, root, at] = [newTraceId(), newSpanId(), Math.floor(Date.now() / 1_000) * 1_000 - index * 1_000 + 123];
  const chat = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "claude-sonnet-4-5",
    "gen_ai.usage.input_tokens": 1_200,
    "gen_ai.usage.output_tokens": 340,
    "gen_ai.input.messages": WORDS,
    "gen_ai.output.messages": WORDS,
  };
  return exportOf("soc-assistant", [
    {
      trace,
      id: root,
      name: "invoke_agent Alert triage",
      at,
      ms: 900,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "Alert triage",
        "gen_ai.input.messages": WORDS,
        "gen_ai.output.messages": WORDS,
      },
    },
    { trace, parent: root, name: "chat claude-sonnet-4-5", at: at + 10, ms: 500, attributes: chat },
    {
      trace,
      parent: root,
      name: "execute_tool list_indicators",
      at: at + 600,
      ms: 200,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "list_indicators",
        "gen_ai.tool.call.arguments": '{"query":"198.51.100.7"}',
      },
    },
  ]);
}
