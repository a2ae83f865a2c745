import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { type Asked, type Reply, results, startModel } from "../services/core-objects/runs/model-server.js";
import { call } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Runs of the built program: real keys, real gates, the built-in platform, and a model that is here.

let program: Program;
let model: Awaited<ReturnType<typeof startModel>>;
let reply: (asked: Asked) => Reply | Promise<Reply>;
let url: string;
let key: string;
let agent: string;

interface Run {
  readonly id: string;
  readonly state: string;
  readonly output?: string;
  readonly trace_id: string;
  readonly error?: { readonly reason: string; readonly message: string };
}

interface Span {
  readonly span_id: string;
  readonly name: string;
  readonly tool?: string;
  readonly fields: readonly { readonly field: string; readonly preview?: string; readonly bytes: number }[];
}

beforeAll(async () => {
  model = await startModel((asked) => reply(asked));
  program = await startProgram();
  url = `${program.baseUrl}/mcp/core`;
  key = program.bootstrap.analyst.api_key;
  const { integration } = await call<{ integration: { id: string } }>(url, key, "create_integration", {
    name: "Models",
    type: "openai",
    endpoint: `${model.url}/v1`,
    models: ["large"],
  });
  const made = await call<{ agent: { id: string } }>(url, key, "create_agent", {
    name: "Analyst",
    tools: ["cti/whoami", "cti/delete_entity", "core/list_runs"],
    resource_ids: [integration.id],
  });
  agent = made.agent.id;
});
afterAll(async () => {
  await program?.stop();
  await model?.close();
});

const asAdmin = () => ({ baseUrl: program.bootstrap.grpc_url, apiKey: program.bootstrap.admin.api_key });

async function rested(id: string): Promise<Run> {
  for (;;) {
    const { run } = await call<{ run: Run }>(url, key, "get_run", { run_id: id });
    if (!["queued", "running"].includes(run.state)) return run;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Triggers through MCP as a client that asks for progress does; the messages of the event stream. */
async function triggered(args: object): Promise<{ method?: string; params?: object; result?: object }[]> {
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "trigger_run", arguments: args, _meta: { progressToken: "p" } },
    }),
  });
  const text = await answer.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
}

test("a run calls the platform as whoever triggered it, tells how far it is, and leaves a trace to read", async () => {
  let isTold = false;
  reply = async (asked) => {
    if (results(asked).length > 0) return "I am the analyst.";
    isTold = await new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 400));
    return { call: "cti__whoami" };
  };
  const messages = await triggered({ agent_id: agent, input: "Who am I?", wait_seconds: 20 });
  expect(isTold).toBe(true);
  expect(messages.filter(({ method }) => method === "notifications/progress").length).toBeGreaterThan(0);
  const { run } = (messages.at(-1)!.result as { structuredContent: { run: Run } }).structuredContent;
  expect(run).toMatchObject({ state: "completed", output: "I am the analyst." });
  const [said] = results(model.asked.at(-1)!);
  expect(said).toContain(program.bootstrap.analyst.email);

  const { steps } = await call<{ steps: { name: string; span_id: string; state: string }[] }>(
    url,
    key,
    "list_run_steps",
    {
      run_id: run.id,
    },
  );
  expect(steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "large completed",
    "cti/whoami completed",
    "large completed",
  ]);
  const traces = await vi.waitFor(
    async () => {
      const found = await call<{ traces: object[] }>(url, key, "inspect_agent_traces", { target_agent_id: agent });
      expect(found.traces).toHaveLength(1);
      return found.traces;
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(traces[0]).toMatchObject({ id: expect.stringContaining(run.trace_id) });
  const { spans } = await call<{ spans: Span[] }>(url, key, "inspect_agent_traces", { trace_id: run.trace_id });
  expect(spans.map(({ name, tool }) => `${name} ${tool ?? ""}`)).toEqual([
    "invoke_agent Analyst ",
    "chat large ",
    "execute_tool cti/whoami cti/whoami",
    "chat large ",
  ]);
  const payload = (span_id: string, field: string) =>
    call<{ text: string; total_bytes: number }>(url, key, "get_trace_payload", {
      trace_id: run.trace_id,
      span_id,
      field,
    });
  for (const { span_id, fields } of spans) {
    for (const { field, preview = "", bytes } of fields) {
      const { text, total_bytes } = await payload(span_id, field);
      expect([field, total_bytes, [...text].slice(0, 200).join("")]).toEqual([field, bytes, preview]);
    }
  }
  expect((await payload(steps[1]!.span_id, "output")).text).toBe(said);
  expect((await payload(steps[0]!.span_id, "input")).text).toContain("Who am I?");
  expect((await payload(steps[2]!.span_id, "input")).text).toContain(JSON.stringify(said).slice(1, -1));
  expect((await payload(spans[0]!.span_id, "output")).text).toContain("I am the analyst.");
});

test("without a model a run fails with that sentence, which whoever waits for it reads", async () => {
  const { api_key } = program.bootstrap.admin;
  const args = { agent_id: "builtin.gap-analyst", input: "Look.", wait_seconds: 20 };
  const { run } = await call<{ run: Run }>(url, api_key, "trigger_run", args);
  expect(run).toMatchObject({ state: "failed", error: { reason: "no_model" } });
  expect(run.error?.message).toMatch(
    /^no model is configured: create an integration with create_integration, which your runs /,
  );
});

test("a run of a key that is revoked ends with that reason, and calls nothing more", async () => {
  const keys = connectClient(ApiKeyService, asAdmin());
  const made = await keys.createApiKey({ userEmail: program.bootstrap.analyst.email, name: "of a run" });
  reply = async () => {
    await keys.revokeApiKey({ id: made.key!.id });
    return { call: "cti__whoami" };
  };
  const asked = model.asked.length;
  const { run } = await call<{ run: Run }>(url, made.token, "trigger_run", { agent_id: agent, input: "Look." });
  expect(await rested(run.id)).toMatchObject({ state: "failed", error: { reason: "credential" } });
  expect((await rested(run.id)).error?.message).toContain("the API key was revoked");
  expect(model.asked.length).toBe(asked + 1);
});

test("a run ends where platform servers are switched off, and one of a narrowed key has its scopes alone", async () => {
  const settings = connectClient(SettingService, asAdmin());
  reply = async () => {
    await settings.updateSettings({ platformServers: false });
    return { call: "cti__whoami" };
  };
  const { run } = await call<{ run: Run }>(url, key, "trigger_run", { agent_id: agent, input: "Look." });
  const ended = await rested(run.id);
  await settings.updateSettings({ platformServers: true });
  expect(ended.error).toMatchObject({ reason: "switched_off" });
  expect(ended.error?.message).toContain("switched platform servers off");

  const keys = connectClient(ApiKeyService, asAdmin());
  const userEmail = program.bootstrap.analyst.email;
  const narrow = await keys.createApiKey({ userEmail, name: "narrow", scopes: ["core:read", "core:write"] });
  reply = (asked) => (results(asked).length === 0 ? { call: "cti__whoami" } : "Done.");
  const other = await call<{ run: Run }>(url, narrow.token, "trigger_run", { agent_id: agent, input: "Look." });
  expect(await rested(other.run.id)).toMatchObject({ state: "completed" });
  const last = model.asked.at(-1)!;
  expect(last.tools!.map(({ function: { name } }) => name)).not.toContain("cti__whoami");
  expect(results(last)).toEqual(["there is no such tool"]);
});

test("a run of an agent with all tools of cti and aev searches what it needs, and finishes its job", async () => {
  const { agent: made } = await call<{ agent: { id: string } }>(url, key, "create_agent", {
    name: "All of them",
    tools: ["cti/*", "aev/*"],
    resource_ids: [],
  });
  const found = (asked: Asked, at: number): string =>
    (JSON.parse(results(asked)[at]!) as { tools: { name: string }[] }).tools[0]!.name;
  reply = (asked) => {
    const said = results(asked);
    if (said.length === 0)
      return { call: "find_tools", args: { query: "who am I, my account on the threat platform" } };
    // It knows no tool by name: it calls what it found first.
    if (said.length === 1) return { call: found(asked, 0) };
    if (said.length === 2) return { call: "find_tools", args: { query: "list scenarios" } };
    if (said.length === 3) return { call: found(asked, 2), args: { page_size: 1 } };
    return `${found(asked, 2)}: ${said[3]!.slice(0, 20)}`;
  };
  const before = model.asked.length;
  const run = await rested(
    (await call<{ run: Run }>(url, key, "trigger_run", { agent_id: made.id, input: "Go." })).run.id,
  );
  expect(run.error).toBeUndefined();
  expect(run).toMatchObject({ state: "completed", output: expect.stringContaining("aev__list_scenarios: {") });
  const asked = model.asked.slice(before);
  const names = asked.map(({ tools = [] }) => tools.map((tool) => tool.function.name));
  expect(names[0]).toEqual(["ask_user", "find_tools"]);
  expect(names[1]).toContain("cti__whoami");
  expect(names.at(-1)!.length).toBeLessThan(15);
  expect(results(asked.at(-1)!)[1]).toContain(program.bootstrap.analyst.email);
  expect(asked[0]!.messages[0]!.content).toMatch(/You have \d+ more tools \(aev \d+, cti \d+\)/);
  expect(JSON.stringify(asked.at(-1)!.tools).length).toBeLessThan(40_000);
});
