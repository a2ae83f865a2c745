import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { BelongingsService } from "#proto/core/v1/belongings_service_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { DocumentService } from "#proto/core/v1/document_service_pb.js";
import { IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import { RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";
import type { AssignmentRecord } from "../../../services/core-objects/kinds/assignments/record.js";
import type { DocumentRecord } from "../../../services/core-objects/knowledge/records.js";
import type { RoomRecord } from "../../../services/core-objects/room.js";
import type { RunRecord } from "../../../services/core-objects/runs/record.js";
import { plainEmbedders } from "./knowledge/plain-embedder.js";
import { type Person, startLeavingRig } from "./leaving-rig.js";
import { refusal } from "./refusal.js";
import { type Asked, type Reply, startModel } from "./runs/model-server.js";

// What goes on in the name of somebody who leaves, and what their successor can do.

let rig: Awaited<ReturnType<typeof startLeavingRig>>;
let model: Awaited<ReturnType<typeof startModel>>;
let reply: (asked: Asked) => Reply = () => "Done.";
/** Embedding waits for it. */
let embedding: Promise<unknown> = Promise.resolve();
const sent: (string | undefined)[] = [];

beforeAll(async () => {
  model = await startModel(
    (asked) => reply(asked),
    (request, _body, response) => {
      sent.push(request.headers["x-token"] as string | undefined);
      response.setHeader("content-type", "application/json").end("{}");
    },
  );
  rig = await startLeavingRig({ knowledge: { embedders: plainEmbedders(() => embedding), pollMs: 20 } });
});
beforeEach(() => {
  reply = () => "Done.";
  rig.silent.clear();
});
afterAll(async () => {
  await rig.close();
  await model.close();
});

const SECRET = "sentinel-of-a-secret";
const { createAssignment, getAssignment, updateAssignment } = AssignmentService.method;
const give = (from: Person, to: Person, more: object = { all: true }) =>
  rig.call(BelongingsService.method.handOver, { userId: from.id, toUserId: to.id, ...more }, rig.root);

async function integration(who: Person, credential = SECRET): Promise<string> {
  const request = { name: "Models", type: IntegrationType.OPENAI, endpoint: `${model.url}/v1`, models: ["large"] };
  return (await rig.call(IntegrationService.method.createIntegration, { ...request, credential }, who)).integration!.id;
}

async function agent(who: Person, more: object = {}): Promise<string> {
  return (await rig.call(AgentService.method.createAgent, { name: "Analyst", instructions: "Look.", ...more }, who))
    .agent!.id;
}

async function trigger(agentId: string, who: Person): Promise<string> {
  for await (const { event } of rig.dispatch.stream(RunService.method.triggerRun, { agentId, input: "Look." }, who))
    if (event.case === "result") return event.value.run!.id;
  throw new Error("no result");
}

const runs = () => rig.store.collection<RunRecord>("runs");
const schedules = () => rig.store.collection<AssignmentRecord>("assignments");
const runOf = async (_id: string) => (await runs().findOne({ _id }))!;

async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (let n = 0; n < 500; n++) {
    const value = await read();
    if (isSo(value)) return value;
    await sleep(20);
  }
  throw new Error("it did not come to that");
}
const ended = (id: string) =>
  until(
    () => runOf(id),
    ({ state }) => !["queued", "running", "awaiting_input"].includes(state),
  );

async function scheduled(who: Person, agentId: string): Promise<string> {
  const request = { name: "Daily", agentId, input: "Look.", schedule: "0 7 * * *" };
  return (await rig.call(createAssignment, request, who)).assignment!.id;
}

test.each(["disable", "remove"] as const)(
  "%s: schedules and runs stop at once, and the answer counts what is left",
  async (how) => {
    const leaver = await rig.person(`stop-${how}`);
    await integration(leaver);
    const agentId = await agent(leaver);
    const schedule = await scheduled(leaver, agentId);
    reply = () => ({ call: "ask_user", args: { question: "Which?" } });
    const asking = await trigger(agentId, leaver);
    await until(
      () => runOf(asking),
      ({ state }) => state === "awaiting_input",
    );
    reply = () => "never";
    const asked = model.asked.length;
    const working = await trigger(agentId, leaver);
    await until(
      async () => model.asked.length,
      (count) => count > asked,
    );
    const began = Date.now();
    expect(await rig[how](leaver)).toMatchObject({ objects: 3, pausedSchedules: 1, endedRuns: 2, problem: "" });
    const paused = await schedules().findOne({ _id: schedule });
    expect(paused).toMatchObject({
      enabled: false,
      next_at: null,
      paused: expect.stringContaining("can no longer sign in"),
    });
    for (const id of [working, asking]) {
      const { state, error, question } = await ended(id);
      expect({ state, question, error }).toMatchObject({
        state: "failed",
        question: "",
        error: { reason: "credential", message: expect.stringContaining("the user was disabled or deleted") },
      });
    }
    // The model never answers: without being ended, the run would wait for it for minutes.
    expect(Date.now() - began).toBeLessThan(20_000);
    await until(
      () => runOf(working),
      ({ delegation }) => delegation === "",
    );
    if (how === "remove") expect(await rig.records.delegations.findOne({ user_id: leaver.id })).toBeNull();
  },
);

test("while core does not answer the user is disabled all the same, and nothing begins for the user", async () => {
  const leaver = await rig.person("silent");
  await integration(leaver);
  const agentId = await agent(leaver);
  const schedule = await scheduled(leaver, agentId);
  rig.silent.add("core-objects");
  expect(await rig.disable(leaver)).toMatchObject({
    objects: 0,
    problem: expect.stringContaining("core did not answer"),
  });
  rig.silent.clear();
  expect((await schedules().findOne({ _id: schedule }))!.enabled).toBe(true);
  await schedules().updateOne({ _id: schedule }, { $set: { next_at: new Date(Date.now() - 1_000) } });
  const paused = await until(
    async () => (await schedules().findOne({ _id: schedule }))!,
    ({ enabled }) => !enabled,
  );
  expect(paused.paused).toContain("is disabled");
  expect(await runs().findOne({ owner: leaver.id })).toBeNull();
});

test("a run that nobody ended ends before its next step", async () => {
  const leaver = await rig.person("next-step");
  await integration(leaver);
  const agentId = await agent(leaver);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const asked = model.asked.length;
  reply = (() => held.then(() => ({ call: "ask_user", args: { question: "Which?" } }))) as never;
  const id = await trigger(agentId, leaver);
  await until(
    async () => model.asked.length,
    (count) => count > asked,
  );
  rig.silent.add("core-objects");
  await rig.disable(leaver);
  rig.silent.clear();
  release();
  const { state, error } = await ended(id);
  expect([state, error!.reason]).toEqual(["failed", "credential"]);
  expect(error!.message).toContain("is disabled");
});

test("a schedule that was handed over waits for its new owner, and then runs as the new owner", async () => {
  const [leaver, heir] = [await rig.person("sched-l"), await rig.person("sched-h")];
  await integration(heir, "credential-of-the-heir");
  const agentId = await agent(leaver);
  const schedule = await scheduled(leaver, agentId);
  await rig.disable(leaver);
  const { objects } = await give(leaver, heir);
  expect(objects.find(({ id }) => id === schedule)!.notes.join()).toContain("its schedule is paused");
  const read = async () => (await rig.call(getAssignment, { assignmentId: schedule }, heir)).assignment!;
  expect(await read()).toMatchObject({
    enabled: false,
    schedule: "0 7 * * *",
    pausedReason: expect.stringContaining("it was handed over to you"),
  });
  expect((await read()).scheduleKey).toBeUndefined();
  expect((await schedules().findOne({ _id: schedule }))!.delegation).toBe("");
  await schedules().updateOne({ _id: schedule }, { $set: { next_at: new Date(Date.now() - 1_000) } });
  await until(
    async () => (await schedules().findOne({ _id: schedule }))!.next_at,
    (next) => next === null,
  );
  expect(await runs().findOne({ owner: { $in: [leaver.id, heir.id] }, assignment: schedule })).toBeNull();
  const enabling = (who: Person) => rig.call(updateAssignment, { assignmentId: schedule, enabled: true }, who);
  for (const who of [rig.root, leaver]) expect((await refusal(enabling(who)))[0]).toMatch(/NotFound|Unauthenticated/);
  await enabling(heir);
  expect((await read()).pausedReason).toBeUndefined();
  await schedules().updateOne({ _id: schedule }, { $set: { next_at: new Date(Date.now() - 1_000) } });
  const run = await until(
    () => runs().findOne({ owner: heir.id, assignment: schedule, state: "completed" }),
    (found) => found !== null,
  );
  expect(run!.agent).toBe(agentId);
  expect(model.asked.at(-1)!.authorization).toBe("Bearer credential-of-the-heir");
});

test("no credential of the leaver is sent for the new owner: of an integration, a server, or a header's variable", async () => {
  const [leaver, heir] = [await rig.person("send-l"), await rig.person("send-h")];
  const models = await integration(leaver);
  const headers = [{ name: "Authorization", value: `Bearer ${SECRET}` }];
  const server = { name: "tools", url: `${model.url}/mcp`, headers };
  const mcpServerId = (await rig.call(McpServerService.method.createMcpServer, server, leaver)).mcpServer!.id;
  const variable = { name: "TOKEN", value: SECRET, secret: true };
  const variableId = (await rig.call(VariableService.method.createVariable, variable, leaver)).variable!.id;
  const tool = {
    name: "look_up",
    description: "d",
    method: "get",
    url: `${model.url}/look`,
    inputSchema: { type: "object" },
  };
  const custom = { ...tool, headers: [{ name: "X-Token", value: "t-", variableId }] };
  const customToolId = (await rig.call(CustomToolService.method.createCustomTool, custom, leaver)).customTool!.id;
  const resourceIds = [models, mcpServerId, customToolId];
  const agentId = await agent(leaver, { resourceIds });
  await rig.disable(leaver);

  // The variable stays: the tool does not take it along.
  const first = (await give(leaver, heir, { ids: [...resourceIds, agentId] })).objects;
  expect(first.find(({ id }) => id === customToolId)!.notes.join()).toContain("secret variables of X-Token");
  const { getCustomTool, updateCustomTool } = CustomToolService.method;
  const read = async () => (await rig.call(getCustomTool, { customToolId }, heir)).customTool!;
  expect(await read()).toMatchObject({ enabled: false, headers: [{ name: "X-Token", value: "t-" }] });
  expect((await read()).headers[0]!.variable).toBeUndefined();

  const runNow = async () => ended(await trigger(agentId, heir));
  expect((await runNow()).error!.message).toContain("is disabled");
  const { updateIntegration, getIntegration } = IntegrationService.method;
  const { integration: shown } = await rig.call(getIntegration, { integrationId: models }, heir);
  expect(shown).toMatchObject({
    hasCredential: false,
    enabled: false,
    connectionError: expect.stringContaining("handed over: its credential was deleted"),
  });
  await rig.call(updateIntegration, { integrationId: models, enabled: true }, heir);
  await rig.call(McpServerService.method.updateMcpServer, { mcpServerId, enabled: true }, heir);
  await rig.call(updateCustomTool, { customToolId, enabled: true }, heir);
  const before = [model.asked.length, sent.length] as const;
  reply = ({ messages }) => (messages.at(-1)!.role === "tool" ? "Done." : { call: "custom__look_up" });
  expect((await runNow()).state).toBe("completed");
  const asked = model.asked.slice(before[0]);
  expect(asked.length).toBeGreaterThan(0);
  for (const { authorization, messages } of asked) {
    expect(authorization ?? "").not.toContain(SECRET);
    expect(messages[0]!.content).toContain("its header Authorization has no value: set it with put_headers");
  }
  expect(sent.slice(before[1])).toEqual(["t-"]);

  // The variable follows: it has no value, and says so.
  await give(leaver, heir, { ids: [variableId] });
  const put = [{ name: "X-Token", value: "t-", variableId }];
  await rig.call(updateCustomTool, { customToolId, putHeaders: put }, heir);
  await rig.call(VariableService.method.updateVariable, { variableId, enabled: true }, heir);
  expect((await runNow()).state).toBe("completed");
  expect(model.asked.at(-1)!.messages.at(-1)!.content).toContain("the variable of its header X-Token has no value");
  expect(sent.slice(before[1])).toEqual(["t-"]);
  await rig.call(VariableService.method.updateVariable, { variableId, value: "token-of-the-heir" }, heir);
  await runNow();
  expect(sent.at(-1)).toBe("t-token-of-the-heir");
});

test("a tool and its variable that go together stay together", async () => {
  const [leaver, heir] = [await rig.person("pair-l"), await rig.person("pair-h")];
  const variable = { name: "TOKEN", value: SECRET, secret: true };
  const variableId = (await rig.call(VariableService.method.createVariable, variable, leaver)).variable!.id;
  const tool = {
    name: "pair",
    description: "d",
    method: "get",
    url: `${model.url}/look`,
    inputSchema: { type: "object" },
  };
  const custom = { ...tool, headers: [{ name: "X-Token", variableId }] };
  const customToolId = (await rig.call(CustomToolService.method.createCustomTool, custom, leaver)).customTool!.id;
  await rig.disable(leaver);
  const planned = (await give(leaver, heir, { ids: [customToolId, variableId], dryRun: true })).objects;
  const { objects } = await give(leaver, heir, { ids: [customToolId, variableId] });
  expect(objects.map(({ id, notes }) => [id, notes])).toEqual(planned.map(({ id, notes }) => [id, notes]));
  expect(objects.map(({ kind, notes }) => [kind, notes.length])).toEqual([
    ["variable", 1],
    ["custom_tool", 0],
  ]);
  const { customTool } = await rig.call(CustomToolService.method.getCustomTool, { customToolId }, heir);
  expect(customTool).toMatchObject({ enabled: true, headers: [{ variable: { id: variableId } }] });
});

test("documents go with their knowledge base: they are found, and count for the new owner", async () => {
  const [leaver, heir] = [await rig.person("docs-l"), await rig.person("docs-h")];
  const { knowledgeBase } = await rig.call(KnowledgeBaseService.method.createKnowledgeBase, { name: "Notes" }, leaver);
  const knowledgeBaseId = knowledgeBase!.id;
  const request = { knowledgeBaseId, name: "Note", content: "Phishing mails come on Mondays." };
  await rig.call(DocumentService.method.createDocument, request, leaver);
  const usage = async (owner: string) => {
    const { usage: rows } = await rig.call(UsageService.method.getUsage, { owner }, rig.root);
    return Object.fromEntries(rows.map(({ name, used }) => [name, used]));
  };
  const documents = rig.store.collection<{ _id: string; state: string; owner: string }>("knowledge_documents");
  await until(
    async () => documents.findOne({ owner: leaver.id }),
    (found) => found?.state === "ready",
  );
  const before = await usage(leaver.id);
  expect(before["storage of documents"]).toBeGreaterThan(0);
  await rig.remove(leaver);
  await give(leaver, heir);
  const [theirs, mine] = [await usage(leaver.id), await usage(heir.id)];
  for (const name of ["objects and documents", "storage of objects", "storage of documents"])
    expect([name, theirs[name], mine[name]]).toEqual([name, 0, before[name]]);
  const asked = { query: "phishing", knowledgeBaseIds: [knowledgeBaseId] };
  expect((await rig.call(KnowledgeBaseService.method.searchKnowledge, asked, heir)).passages).toHaveLength(1);
});

test("a document that is embedded at that moment is embedded for the new owner", async () => {
  const [leaver, heir] = [await rig.person("work-l"), await rig.person("work-h")];
  let release = (): void => undefined;
  embedding = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { knowledgeBase } = await rig.call(KnowledgeBaseService.method.createKnowledgeBase, { name: "Notes" }, leaver);
  const request = { knowledgeBaseId: knowledgeBase!.id, name: "Note", content: "Phishing mails come on Mondays." };
  await rig.call(DocumentService.method.createDocument, request, leaver);
  const documents = rig.store.collection<DocumentRecord>("knowledge_documents");
  const first = await until(
    () => documents.findOne({ owner: leaver.id }),
    (found) => found !== null && found.claim !== "",
  );
  await rig.disable(leaver);
  await give(leaver, heir);
  release();
  const ready = await until(
    () => documents.findOne({ _id: first!._id }),
    (found) => found?.state === "ready",
  );
  expect(ready!.owner).toBe(heir.id);
  const rooms = rig.store.collection<RoomRecord>("object_room");
  expect(await rooms.findOne({ _id: leaver.id })).toBeNull();
  expect(await rooms.findOne({ _id: heir.id })).toMatchObject({ documents: 1, knowledge: ready!.held });
});

test("runs are listed while they go on, and stay the leaver's", async () => {
  const [leaver, heir] = [await rig.person("runs-l"), await rig.person("runs-h")];
  await integration(leaver);
  const agentId = await agent(leaver);
  reply = () => "never";
  const id = await trigger(agentId, leaver);
  const listed = async () =>
    (await rig.call(BelongingsService.method.listBelongings, { userId: leaver.id, kinds: ["run"] }, rig.root))
      .belongings;
  expect(await listed()).toMatchObject([{ kind: "run", id, name: "Analyst", active: true }]);
  await rig.disable(leaver);
  await ended(id);
  expect(await listed()).toEqual([]);
  expect((await refusal(give(leaver, heir, { ids: [id] })))[1]).toContain(`owns no object with the id ${id}`);
  await rig.enable(leaver);
  const { run } = await rig.call(RunService.method.getRun, { runId: id }, leaver);
  expect(run).toMatchObject({ state: RunState.FAILED, error: { reason: RunErrorReason.CREDENTIAL } });
});
