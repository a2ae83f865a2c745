import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { EndpointAvailability } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { RunErrorReason, RunState } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { as } from "../rig.js";
import { results } from "./model-server.js";
import { CREDENTIAL, startStage, startTracedStage } from "./stage.js";

let stage: Awaited<ReturnType<typeof startTracedStage>>;
beforeAll(async () => {
  stage = await startTracedStage();
});
afterAll(() => stage.close());

const call: typeof stage.rig.dispatch.unary = (...request) => stage.rig.dispatch.unary(...request);
const SECRET = "sentinel-of-a-variable-8841";

async function lookUp(more: object = {}): Promise<string> {
  const variable = { name: `KEY_${Math.random().toString(36).slice(2)}`, value: SECRET, secret: true };
  const made = await call(VariableService.method.createVariable, variable, as("alice"));
  const tool = {
    name: "look_up",
    description: "Looks a host up.",
    method: "get",
    url: `${stage.model.url}/hosts/{host}`,
    headers: [{ name: "Authorization", value: "Bearer ", variableId: made.variable!.id }],
    inputSchema: {
      type: "object",
      properties: { host: { type: "string" }, depth: { type: "integer" } },
      required: ["host"],
    },
    ...more,
  };
  return (await call(CustomToolService.method.createCustomTool, tool, as("alice"))).customTool!.id;
}

test("an agent calls a custom tool and answers; what is secret is in no step, no trace and not told to the model", async () => {
  const integration = await stage.integrate();
  const agent = await stage.agent({ resourceIds: [integration, await lookUp()] });
  let url = "";
  stage.script.other = ({ url: asked, headers }, _body, response) => {
    url = asked!;
    response.end(JSON.stringify({ host: "web-1", echo: headers.authorization, again: SECRET }));
  };
  stage.script.reply = (asked) =>
    results(asked).length === 0
      ? { call: "custom__look_up", args: { host: "web/1", depth: 2 }, say: "I look." }
      : `It is web-1, ${CREDENTIAL}.`;
  const before = stage.model.asked.length;
  const { id } = await stage.trigger(agent);
  const run = await stage.rested(id);
  expect(run).toMatchObject({
    state: RunState.COMPLETED,
    output: "It is web-1, [redacted].",
    stepCount: 3,
    model: "large",
  });
  expect([run.inputTokens, run.outputTokens]).toEqual([200n, 20n]);
  expect(url).toBe("/hosts/web%2F1?depth=2");
  const [first, second] = stage.model.asked.slice(before);
  expect(first).toMatchObject({ model: "large", authorization: `Bearer ${CREDENTIAL}` });
  expect(first?.messages[0]?.content).toContain("Look closely.");
  expect(first?.messages[1]).toEqual({ role: "user", content: "Look." });
  expect(results(second!)).toEqual(['{"host":"web-1","echo":"Bearer [redacted]","again":"[redacted]"}']);
  expect(JSON.stringify(await stage.steps(id))).not.toContain(SECRET);
  expect(JSON.stringify(await stage.steps(id))).not.toContain(CREDENTIAL);

  const { steps } = await call(RunService.method.listRunSteps, { runId: id }, as("alice"));
  expect(steps.map(({ number, name, input }) => [number, name, input])).toEqual([
    [1, "large", ""],
    [2, "custom/look_up", '{"host":"web/1","depth":2}'],
    [3, "large", ""],
  ]);
  await vi.waitFor(async () => expect((await stage.record(id))?.due_at).toBeNull(), { interval: 10 });
  expect((await stage.record(id))?.delegation).toBe("");
  const { inspectAgentTraces, getTracePayload } = TraceInspectionService.method;
  const { traces } = await call(inspectAgentTraces, { targetAgentId: agent }, as("alice", "traces"));
  expect(traces).toMatchObject([{ id: expect.stringContaining(run.traceId) }]);
  const payload = (spanId: string, field: string) =>
    call(getTracePayload, { traceId: run.traceId, spanId, field }, as("alice", "traces"));
  expect((await payload(steps[1]!.spanId, "output")).text).toBe(results(second!)[0]);
  expect((await payload(steps[1]!.spanId, "input")).text).toBe('{"host":"web/1","depth":2}');
  expect((await payload(steps[2]!.spanId, "output")).text).toContain("It is web-1");
  const others = call(inspectAgentTraces, { targetAgentId: agent }, as("bob", "traces"));
  await expect(others).rejects.toMatchObject({ rawMessage: expect.stringContaining("no agent that you can see") });
});

test.each(["", "call_0", "undefined"])(
  "a model that calls each of its calls %j is answered all the same",
  async (id) => {
    const agent = await stage.agent({ resourceIds: [await stage.integrate(), await lookUp({ name: `twice_${id}` })] });
    stage.script.other = ({ url }, _body, response) => void response.end(url);
    stage.script.reply = (asked) => {
      const host = results(asked).length;
      const look = { call: `custom__twice_${id}`, id };
      if (host === 0) return { ...look, args: { host: "0" } };
      if (host === 1) return { calls: ["1", "2"].map((name) => ({ ...look, args: { host: name } })) };
      return "Seen.";
    };
    const before = stage.model.asked.length;
    const run = await stage.rested((await stage.trigger(agent)).id);
    expect(run).toMatchObject({ state: RunState.COMPLETED, output: "Seen.", stepCount: 6 });
    const asked = stage.model.asked.slice(before);
    expect(asked.map(results)).toEqual([[], ["/hosts/0"], ["/hosts/0", "/hosts/1", "/hosts/2"]]);
    const ids = asked.at(-1)!.messages.flatMap(({ tool_calls = [] }) => tool_calls.map((one) => one.id));
    expect(new Set(ids).size).toBe(3);
  },
);

test("a secret that an answer is cut off in is in no part in steps and traces, and not told to the model", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate(), await lookUp()] });
  // The longest answer that is shown, and of a refusal, end inside the secret.
  const cut = (length: number, { authorization }: { authorization?: string | undefined }) =>
    `${"x".repeat(length - 10)}${authorization}`;
  stage.script.other = ({ url, headers }, _body, response) => {
    if (url!.includes("long")) response.end(cut(40 * 1024 - 7, headers));
    else response.writeHead(500).end(cut(40 * 1024 - 7, headers));
  };
  const callOf = (host: string) => ({ call: "custom__look_up", args: { host } });
  stage.script.reply = (asked) =>
    results(asked).length === 0
      ? { calls: [callOf("long"), callOf("refused")] }
      : { status: 400, error: cut(295, asked) };
  const { id } = await stage.trigger(agent);
  const run = await stage.rested(id);
  expect(run.error?.reason).toBe(RunErrorReason.MODEL_FAILED);
  expect(run.error?.message.length).toBeGreaterThan(280);
  const said = [...results(stage.model.asked.at(-1)!), JSON.stringify(await stage.steps(id)), run.error?.message];
  for (const text of said) {
    expect(text).not.toContain(SECRET.slice(0, 4));
    expect(text).not.toContain(CREDENTIAL.slice(0, 4));
  }
});

test("a run that fails at its first model call leaves a trace, which says why and is in its agent's list", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  stage.script.reply = () => ({ status: 400, error: "no such thing" });
  const run = await stage.rested((await stage.trigger(agent)).id);
  expect(run).toMatchObject({ state: RunState.FAILED, stepCount: 1 });
  const { inspectAgentTraces } = TraceInspectionService.method;
  const list = await vi.waitUntil(async () => {
    const { traces } = await call(inspectAgentTraces, { targetAgentId: agent }, as("alice", "traces"));
    return traces[0]?.spanCount === 2 && traces;
  }, 10_000);
  expect(list).toMatchObject([{ id: expect.stringContaining(run.traceId), errorCount: 2 }]);
  expect(list[0]!.fields.find(({ field }) => field === "error")?.preview).toContain("no such thing");
});

test("the trace of a run that waits for its person can be read, and each step counts once when the run has ended", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate()], tools: ["core/list_agents"] });
  stage.script.reply = (asked) => {
    const count = results(asked).length;
    if (count === 0) return { call: "core__list_agents", args: {} };
    return count === 1 ? { call: "ask_user", args: { question: "Which?" } } : "Done.";
  };
  const { id } = await stage.trigger(agent);
  const waiting = await stage.rested(id);
  expect(waiting).toMatchObject({ state: RunState.AWAITING_INPUT, stepCount: 4 });
  const { inspectAgentTraces } = TraceInspectionService.method;
  const shown = () => call(inspectAgentTraces, { traceId: waiting.traceId }, as("alice", "traces"));
  const spansOf = async () => (await shown()).spans.map(({ operation, tool }) => tool || operation);
  await vi.waitUntil(async () => (await spansOf().catch(() => [])).length === 3, 10_000);
  expect(await spansOf()).toEqual(["chat", "core/list_agents", "chat"]);
  const { traces } = await call(inspectAgentTraces, { targetAgentId: agent }, as("alice", "traces"));
  expect(traces).toMatchObject([{ id: expect.stringContaining(waiting.traceId) }]);
  await call(RunService.method.updateRun, { runId: id, answer: "That." }, as("alice"));
  const run = await stage.rested(id);
  // What a trace adds up to is written after its spans.
  await vi.waitUntil(async () => (await shown()).traces[0]?.spanCount === 6, 10_000);
  const {
    spans,
    traces: [trace],
  } = await shown();
  expect(spans).toHaveLength(6);
  expect(trace).toMatchObject({ name: "invoke_agent Analyst", spanCount: 6 });
  expect([trace!.inputTokens, trace!.outputTokens]).toEqual([Number(run.inputTokens), Number(run.outputTokens)]);
});

test("without a model a run fails with that sentence", async () => {
  const agent = await stage.agent({}, "carl");
  const run = await stage.rested((await stage.trigger(agent, {}, "carl")).id, "carl");
  expect(run).toMatchObject({ state: RunState.FAILED, error: { reason: RunErrorReason.NO_MODEL }, stepCount: 0 });
  expect(run.error?.message).toMatch(/^no model is configured: create an integration/);
  const other = await stage.agent({ resourceIds: [await stage.integrate()], model: "huge" });
  expect((await stage.rested((await stage.trigger(other)).id)).error?.message).toContain(
    "has no model huge; it has large",
  );
});

/** Tools of core that begin runs or destroy. */
const NOT_OFFERED = ["delete_agent", "update_run", "trigger_assignment", "create_assignment", "delete_assignment"];

test("tools of core are called as whoever triggered it, and those that begin runs or destroy are not offered", async () => {
  const tools = ["core/*", "core/trigger_run", "core/update_run"];
  const sharing = [{ to: "user:bob", tier: 1 }];
  const integration = await stage.integrate({ sharing });
  const agent = await stage.agent({ tools, sharing, resourceIds: [integration] });
  stage.script.reply = (asked) =>
    results(asked).length === 0
      ? {
          calls: [
            { call: "core__list_agents", args: { query: "Analyst" } },
            { call: "core__update_agent", args: { agent_id: agent, description: "mine" } },
            { call: "core__trigger_run", args: { agent_id: agent, input: "Again." } },
            { call: "core__get_agent", args: { agent: 1 } },
            { call: "find_tools", args: { query: "create an agent" } },
            ...NOT_OFFERED.map((name) => ({ call: `core__${name}`, args: {} })),
          ],
        }
      : "Done.";
  const { id } = await stage.trigger(agent, {}, "bob");
  expect(await stage.rested(id, "bob")).toMatchObject({ state: RunState.COMPLETED });
  const asked = stage.model.asked.at(-1)!;
  const offered = asked.tools!.map(({ function: { name } }) => name);
  expect(offered).toContain("core__create_agent");
  const [list, update, trigger, get, , ...others] = results(asked);
  expect(others).toEqual(NOT_OFFERED.map(() => "there is no such tool"));
  expect(
    JSON.parse(list!)
      .agents.map((one: { id: string }) => one.id)
      .at(-1),
  ).toBe(agent);
  expect(update).toContain("shared with you only to view");
  expect(trigger).toBe("there is no such tool");
  expect(get).toContain("agent");
  const named = await stage.agent({ tools: ["core/delete_agent"], resourceIds: [integration] });
  stage.script.reply = (asked) =>
    results(asked).length === 0 ? { call: "core__delete_agent", args: { agent_id: agent } } : "Gone.";
  await stage.rested((await stage.trigger(named)).id);
  const gone = call(AgentService.method.getAgent, { agentId: agent }, as("alice"));
  await expect(gone).rejects.toMatchObject({ rawMessage: expect.stringContaining("no agent") });
});

test("skills are those that the agent was given, and their instructions are read when they are needed", async () => {
  const { skill } = await call(
    SkillService.method.createSkill,
    { name: "triage", description: "How we triage.", instructions: "First, breathe." },
    as("alice"),
  );
  const agent = await stage.agent({ resourceIds: [skill!.id, await stage.integrate()] });
  stage.script.reply = (asked) =>
    results(asked).length === 0
      ? {
          calls: [
            { call: "load_skill", args: { skill: "triage" } },
            { call: "load_skill", args: { skill: "assess-compliance" } },
          ],
        }
      : "Done.";
  const before = stage.model.asked.length;
  await stage.rested((await stage.trigger(agent)).id);
  expect(stage.model.asked[before]!.messages[0]!.content).toContain("triage: How we triage.");
  const [own, other] = results(stage.model.asked.at(-1)!);
  expect(own).toContain("First, breathe.");
  expect(other).toBe("skill must be one of triage");
});

test("a run asks its user, waits without a worker, and goes on with the answer", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  stage.script.reply = (asked) =>
    results(asked).length === 0 ? { call: "ask_user", args: { question: "Which host?" } } : `So ${results(asked)[0]}`;
  const { id } = await stage.trigger(agent);
  expect(await stage.rested(id)).toMatchObject({ state: RunState.AWAITING_INPUT, question: "Which host?" });
  const again = await call(RunService.method.updateRun, { runId: id, answer: "web-1" }, as("alice"));
  expect(again.run?.state).toBe(RunState.QUEUED);
  expect(await stage.rested(id)).toMatchObject({ state: RunState.COMPLETED, output: "So web-1", stepCount: 3 });
});

test("whoever waits for a run is told how far it is", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  let answer: (() => void) | undefined;
  stage.script.reply = () => new Promise((resolve) => (answer = () => resolve("Done.")));
  const said: string[] = [];
  const request = { agentId: agent, input: "Look.", waitSeconds: 20 };
  for await (const { event } of stage.rig.dispatch.stream(RunService.method.triggerRun, request, as("alice"))) {
    if (event.case === "progress") {
      said.push(event.value.message);
      void vi.waitFor(() => answer!(), { interval: 10, timeout: 20_000 });
    } else expect(event.value?.run).toMatchObject({ state: RunState.COMPLETED, output: "Done." });
  }
  expect(said[0]).toMatch(/^(?:queued|running)$/);
});

test.each([
  ["a cancel", {}, { state: RunState.CANCELLED, reason: RunErrorReason.CANCELLED }],
  ["its time", { timeoutSeconds: 5 }, { state: RunState.TIMED_OUT, reason: RunErrorReason.TIMEOUT }],
])("%s ends a run while the model thinks", async (what, more, { state, reason }) => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  const before = stage.model.asked.length;
  stage.script.reply = () => "never";
  const { id } = await stage.trigger(agent, more);
  await vi.waitFor(() => expect(stage.model.asked.length).toBe(before + 1), { interval: 10, timeout: 10_000 });
  if (what === "a cancel") await call(RunService.method.updateRun, { runId: id, cancel: true }, as("alice"));
  expect(await stage.rested(id)).toMatchObject({ state, error: { reason } });
});

test("a run takes no more steps than it may", async () => {
  const agent = await stage.agent({ tools: ["core/list_agents"], resourceIds: [await stage.integrate()] });
  stage.script.reply = () => ({ call: "core__list_agents" });
  const { id } = await stage.trigger(agent, { maxSteps: 5 });
  expect(await stage.rested(id)).toMatchObject({ state: RunState.FAILED, stepCount: 5 });
  expect((await stage.rested(id)).error?.message).toContain("it took 5 steps");
});

/** A run whose model answers its first question after this was done. */
async function meanwhile(act: () => Promise<unknown> | unknown, more: object = {}) {
  const agent = await stage.agent({ tools: ["core/list_agents"], resourceIds: [await stage.integrate()], ...more });
  stage.script.reply = async () => {
    await act();
    return { call: "core__list_agents" };
  };
  return stage.rested((await stage.trigger(agent)).id);
}

test("a revoked key, a disabled user or a switch ends a run with that reason, at its next step", async () => {
  const { delegations, closed } = stage.rig;
  const revoked = await meanwhile(() => delegations.refuse("alice", "the API key was revoked: create a new one"));
  delegations.refuse("alice", undefined);
  expect(revoked).toMatchObject({ state: RunState.FAILED, stepCount: 1, error: { reason: RunErrorReason.CREDENTIAL } });
  expect(revoked.error?.message).toContain("the API key was revoked");
  for (const [server, how, words] of [
    ["core", EndpointAvailability.AI_OFF, "switched AI off"],
    ["core", EndpointAvailability.CORE_OFF, "switched core off"],
    ["grc", EndpointAvailability.PLATFORM_SERVERS_OFF, "switched platform servers off"],
  ] as const) {
    const more = server === "grc" ? { tools: ["core/list_agents", "grc/list_controls"] } : {};
    const run = await meanwhile(() => closed.set(server, how), more);
    closed.clear();
    expect(run).toMatchObject({ stepCount: 1, error: { reason: RunErrorReason.SWITCHED_OFF } });
    expect(run.error?.message).toContain(words);
  }
});

test("an agent that is disabled ends its runs, and an integration that is leaves them without a model", async () => {
  const integration = await stage.integrate();
  const agent = await stage.agent({ tools: ["core/list_agents"], resourceIds: [integration] });
  stage.script.reply = async () => {
    await call(AgentService.method.updateAgent, { agentId: agent, enabled: false }, as("alice"));
    return { call: "core__list_agents" };
  };
  const run = await stage.rested((await stage.trigger(agent)).id);
  expect(run.error).toMatchObject({ reason: RunErrorReason.AGENT_UNAVAILABLE });
  expect(run.stepCount).toBe(1);
});

test("a model that refuses or redirects is told of, without its credential", async () => {
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  stage.script.reply = () => ({ status: 401 });
  const refused = await stage.rested((await stage.trigger(agent)).id);
  expect(refused).toMatchObject({ state: RunState.FAILED, error: { reason: RunErrorReason.MODEL_FAILED } });
  expect(refused.error?.message).toContain("refused the credential");
  const before = stage.model.asked.length;
  stage.script.reply = () => ({ status: 302, location: "http://169.254.169.254/latest/meta-data" });
  const redirected = await stage.rested((await stage.trigger(agent)).id);
  expect(redirected.error?.message).toContain("HTTP 302");
  expect(redirected.error?.message).not.toContain(CREDENTIAL);
  expect(stage.model.asked.length).toBe(before + 1);
});

test("what a custom tool answers other than well is told to the model, and a redirect is not followed", async () => {
  const post = await lookUp({ name: "open_ticket", method: "post", url: `${stage.model.url}/tickets` });
  const agent = await stage.agent({ resourceIds: [await stage.integrate(), await lookUp(), post] });
  const seen: string[] = [];
  stage.script.other = ({ url, method, headers }, body, response) => {
    seen.push(`${method} ${url} ${body}`);
    if (url === "/tickets") response.writeHead(201).end(String(headers["content-type"]));
    else response.writeHead(302, { location: "http://169.254.169.254/" }).end();
  };
  stage.script.reply = (asked) =>
    results(asked).length === 0
      ? {
          calls: [
            { call: "custom__look_up", args: { host: "b" } },
            { call: "custom__look_up", args: { host: ".." } },
            { call: "custom__look_up", args: {} },
            { call: "custom__look_up", args: { host: "a", colour: "red" } },
            { call: "custom__look_up", args: { host: "a", depth: "two" } },
            { call: "custom__open_ticket", args: { host: 404, depth: "2" } },
          ],
        }
      : "Done.";
  await stage.rested((await stage.trigger(agent)).id);
  expect(results(stage.model.asked.at(-1)!)).toEqual([
    "HTTP 302, a redirect to http://169.254.169.254/, which the service does not follow",
    "an argument turns a part of the path into . or .., which leads to another path",
    "the argument host is missing",
    "unknown argument colour: known arguments are host, depth",
    'depth: must be an integer, not "two"',
    "application/json",
  ]);
  expect(seen).toEqual(["GET /hosts/b ", 'POST /tickets {"host":"404","depth":2}']);
  const offered = stage.model.asked.at(-1)!.tools!.find(({ function: { name } }) => name === "custom__open_ticket");
  expect(offered?.function.parameters).toEqual({
    type: "object",
    properties: { host: { type: "string" }, depth: { type: "integer" } },
    required: ["host"],
  });
});

test("a worker that closes gives its runs back, and the next goes on from the last step", async () => {
  const other = await startStage();
  try {
    const agent = await other.agent({ tools: ["core/list_agents"], resourceIds: [await other.integrate()] });
    other.script.reply = (asked) => (results(asked).length === 0 ? { call: "core__list_agents" } : "never");
    const { id } = await other.trigger(agent);
    await vi.waitFor(() => expect(other.model.asked.length).toBe(2), { interval: 10, timeout: 15_000 });
    other.script.reply = (asked) => `${results(asked).length} results`;
    const before = await other.steps(id);
    await other.rig.store
      .collection("runs")
      // As a worker leaves it that ends between a step and what the run's record says of it.
      .updateOne({ _id: id }, { $inc: { fence: 1 }, $set: { due_at: new Date(), step_count: 1, input_tokens: 0 } });
    const run = await other.rested(id);
    expect(run).toMatchObject({ state: RunState.COMPLETED, output: "1 results", stepCount: 3, inputTokens: 200n });
    expect((await other.steps(id)).slice(0, 2)).toEqual(before);
  } finally {
    await other.close();
  }
});

test("an agent that gives a wrong id is told which of its own tools returns such ids", async () => {
  const integration = await stage.integrate();
  const told = async (...tools: string[]) => {
    const agent = await stage.agent({ tools: ["core/get_agent", ...tools], resourceIds: [integration] });
    stage.script.reply = (asked) =>
      results(asked).length === 0 ? { call: "core__get_agent", args: { agent_id: "none" } } : "Done.";
    await stage.rested((await stage.trigger(agent)).id);
    return results(stage.model.asked.at(-1)!)[0];
  };
  expect(await told("core/list_agents")).toBe("no agent that you can see has the id none; list_agents returns the ids");
  expect(await told()).toBe("no agent that you can see has the id none");
});
