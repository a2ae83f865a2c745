import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { type Asked, results, startModel } from "../services/core-objects/runs/model-server.js";
import { makeKeysOf } from "../support/new-keys.js";
import { type Program, startProgram } from "../support/program.js";

// The life of an agent, by two people of a group with real MCP clients and nothing else: made of a template with a skill,
// a base, a tool and a secret; shared, scheduled, asked, answered, allowed, traced, changed, taken back and deleted. Each
// step says how many calls it took and how many bytes their answers have.

const SECRET = "sentinel-of-the-story-7719";
/** Bytes that the answers of a step may have: lists and objects in full are the largest. */
const MOST_BYTES = 4_000;
/** Bytes of all answers of the story together, and calls. */
const MOST = { bytes: 30_000, calls: 40 };

interface Step {
  readonly step: string;
  readonly who: string;
  calls: number;
  bytes: number;
}
interface Made {
  readonly id: string;
  readonly name?: string;
}
interface Run extends Made {
  readonly state: string;
  readonly etag: string;
  readonly question?: string;
  readonly output?: string;
  readonly trace_id: string;
  readonly agent_version?: number;
  readonly left_out?: readonly string[];
  readonly pending_call?: { readonly tool: string; readonly arguments: string; readonly reason: string };
}

let program: Program;
let model: Awaited<ReturnType<typeof startModel>>;
const people = {} as Record<"ana" | "ben", Client>;
const steps: Step[] = [];
const tickets: { readonly body: string; readonly key: string | undefined }[] = [];

/** What the agent does: it looks into the base, asks which host, opens a ticket and says its number. */
function reply(asked: Asked) {
  const said = results(asked);
  if (said.length === 0) return { call: "search_knowledge", args: { query: "who is called for phishing" } };
  if (said.length === 1) return { call: "ask_user", args: { question: "Which mailbox is it?" } };
  if (said.length === 2) return { call: "custom__open_ticket", args: { title: `Phishing in ${said[1]}` } };
  return `Done: ${said[2]}`;
}

beforeAll(async () => {
  model = await startModel(reply, ({ headers }, body, response) => {
    tickets.push({ body, key: headers["x-key"] as string | undefined });
    response.end("ticket 41");
  });
  program = await startProgram();
  const { grpc_url: baseUrl, admin } = program.bootstrap;
  const asAdmin = { baseUrl, apiKey: admin.api_key };
  const { group } = await connectClient(GroupService, asAdmin).createGroup({ name: "soc" });
  for (const who of ["ana", "ben"] as const) {
    const email = `${who}@example.org`;
    await connectClient(UserService, asAdmin).createUser({ email, name: who, groups: [group!.id] });
    const [key = ""] = await makeKeysOf(program, email, 1);
    people[who] = new Client({ name: who, version: "1" });
    await people[who].connect(
      new StreamableHTTPClientTransport(new URL(`${program.baseUrl}/mcp/core`), {
        requestInit: { headers: { authorization: `Bearer ${key}` } },
      }),
    );
  }
}, 120_000);
afterAll(async () => {
  for (const client of Object.values(people)) await client.close();
  await program?.stop();
  await model?.close();
  const rows = steps.map(({ step, who, calls, bytes }) => `${step.padEnd(34)} ${who} ${calls} ${bytes}`);
  process.stdout.write(`${rows.join("\n")}\n`);
});

/** Calls a tool and counts it to the step; an answer that is an error is given as its sentence. */
async function ask<T>(step: string, who: "ana" | "ben", name: string, args: object = {}): Promise<T> {
  const answer = await people[who].callTool({ name, arguments: args as Record<string, unknown> });
  const text = JSON.stringify(answer.content);
  let at = steps.find((one) => one.step === step && one.who === who);
  if (at === undefined) {
    at = { step, who, calls: 0, bytes: 0 };
    steps.push(at);
  }
  at.calls++;
  at.bytes += Buffer.byteLength((answer.content as { text: string }[])[0]!.text);
  expect(text).not.toContain(SECRET);
  if (answer.isError) throw new Error((answer.content as { text: string }[])[0]!.text);
  return answer.structuredContent as T;
}

/** The run once it rests: a look each time, of which only the last counts as a call of the story. */
async function rested(step: string, id: string): Promise<Run> {
  await vi.waitFor(
    async () => {
      const { structuredContent } = await people.ben.callTool({ name: "get_run", arguments: { run_id: id } });
      expect(["queued", "running"]).not.toContain((structuredContent as { run: Run }).run.state);
    },
    { timeout: 60_000, interval: 100 },
  );
  return (await ask<{ run: Run }>(step, "ben", "get_run", { run_id: id })).run;
}

test("two people of a group make, share, use, change and delete an agent with MCP alone", async () => {
  const since = new Date().toISOString();
  const { agents } = await ask<{ agents: Made[] }>("template", "ana", "list_agents", { origin: "builtin" });
  const template_id = agents.find(({ id }) => id === "builtin.threat-analyst")!.id;
  const { skill } = await ask<{ skill: Made }>("skill", "ana", "create_skill", {
    name: "phishing",
    description: "How we handle phishing.",
    instructions: "Find who is called, ask which mailbox it is, then open a ticket.",
  });
  const { knowledge_base: base } = await ask<{ knowledge_base: Made }>("base", "ana", "create_knowledge_base", {
    name: "Runbooks",
  });
  await ask("base", "ana", "create_document", {
    knowledge_base_id: base.id,
    name: "Phishing",
    type: "markdown",
    content: "# Phishing\n\nFor phishing the mail team is called, at any time.",
  });
  await vi.waitFor(
    async () => {
      const list = { name: "list_documents", arguments: { knowledge_base_id: base.id } };
      const { structuredContent } = await people.ana.callTool(list);
      expect(structuredContent).toMatchObject({ documents: [{ state: "ready" }] });
    },
    { timeout: 60_000, interval: 200 },
  );
  const { variable } = await ask<{ variable: Made }>("secret", "ana", "create_variable", {
    name: "TICKET_KEY",
    value: SECRET,
    secret: true,
  });
  const { custom_tool: tool } = await ask<{ custom_tool: Made }>("tool", "ana", "create_custom_tool", {
    name: "open_ticket",
    description: "Opens a ticket.",
    method: "post",
    url: `${model.url}/tickets`,
    input_schema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
    headers: [{ name: "X-Key", value: "", variable_id: variable.id }],
  });
  const { integration } = await ask<{ integration: Made }>("model", "ana", "create_integration", {
    name: "Models",
    type: "openai",
    endpoint: `${model.url}/v1`,
    models: ["large"],
  });
  const parts = [skill.id, base.id, tool.id, integration.id];
  const { agent } = await ask<{ agent: Made }>("agent", "ana", "create_agent", {
    name: "Phishing desk",
    template_id,
    resource_ids: parts,
    ask_tools: ["custom/open_ticket"],
  });
  const shared = await ask<{ unshared_parts?: object[] }>("share", "ana", "update_agent", {
    agent_id: agent.id,
    share: [{ to: "group:soc", tier: "config" }],
    share_parts: true,
  });
  expect(shared.unshared_parts ?? []).toEqual([]);
  const { assignment } = await ask<{ assignment: Made & { next_run_at: string } }>(
    "schedule",
    "ana",
    "create_assignment",
    {
      name: "Morning look",
      agent_id: agent.id,
      input: "Is there phishing?",
      schedule: "0 6 * * *",
    },
  );
  expect(Date.parse(assignment.next_run_at)).toBeGreaterThan(Date.now());

  const found = await ask<{ agents: Made[] }>("find", "ben", "list_agents", { query: "phishing desk" });
  expect(found.agents.map(({ id }) => id)).toEqual([agent.id]);
  const { run } = await ask<{ run: Run }>("question", "ben", "trigger_run", { agent_id: agent.id, input: "Phishing!" });
  const asking = await rested("question", run.id);
  expect(asking).toMatchObject({ state: "awaiting_input", question: "Which mailbox is it?", agent_version: 1 });
  expect(asking.left_out ?? []).toEqual(expect.not.arrayContaining([expect.stringMatching(/skill|base|custom tool/)]));
  await ask("answer", "ben", "update_run", { run_id: run.id, answer: "cfo@example.org" });
  const waiting = await rested("answer", run.id);
  expect(waiting.pending_call).toEqual({
    tool: "custom/open_ticket",
    arguments: '{"title":"Phishing in cfo@example.org"}',
    reason: "The agent is set to ask before it calls this tool.",
  });
  expect(tickets).toEqual([]);
  await ask("word", "ben", "update_run", { run_id: run.id, approve: true, etag: waiting.etag });
  const ended = await rested("word", run.id);
  expect(ended).toMatchObject({ state: "completed", output: "Done: ticket 41" });
  expect(tickets).toEqual([{ body: '{"title":"Phishing in cfo@example.org"}', key: SECRET }]);
  const news = await ask<{ runs: Made[] }>("news", "ben", "list_runs", { news_since: since });
  expect(news.runs.map(({ id }) => id)).toEqual([run.id]);
  const mine = ask("news", "ana", "get_run", { run_id: run.id });
  await expect(mine).rejects.toThrow("you have no run");

  const { steps: done } = await ask<{ steps: { name: string; span_id: string; approved?: boolean }[] }>(
    "trace",
    "ben",
    "list_run_steps",
    { run_id: run.id },
  );
  const called = done.filter(({ name }) => name.includes("/") || name === "ask_user");
  expect(called.map(({ name, approved }) => [name, approved])).toEqual([
    ["core/search_knowledge", undefined],
    ["ask_user", undefined],
    ["custom/open_ticket", true],
  ]);
  const payload = { trace_id: ended.trace_id, span_id: called[0]!.span_id, field: "output" };
  const { text } = await ask<{ text: string }>("trace", "ben", "get_trace_payload", payload);
  expect(text).toContain("the mail team is called");

  const instructions = "You are the phishing desk. Always open a ticket.";
  await ask("new version", "ben", "update_agent", { agent_id: agent.id, instructions });
  const compared = await ask<{ agent: { version: number }; changes: { field: string; added: string[] }[] }>(
    "new version",
    "ana",
    "get_agent",
    { agent_id: agent.id, compare_to: 1 },
  );
  expect([compared.agent.version, compared.changes.map(({ field }) => field)]).toEqual([2, ["instructions"]]);
  expect(compared.changes[0]!.added).toEqual([instructions]);
  const back = await ask<{ agent: { version: number; instructions: string } }>("go back", "ana", "update_agent", {
    agent_id: agent.id,
    restore_version: 1,
  });
  expect(back.agent.version).toBe(3);
  expect(back.agent.instructions).toContain("threat intelligence analyst");

  const early = ask("delete", "ana", "delete_agent", { agent_id: agent.id });
  await expect(early).rejects.toThrow("delete_assignments");
  await expect(ask("delete", "ben", "delete_agent", { agent_id: agent.id })).rejects.toThrow("manage tier");
  await ask("delete", "ana", "delete_agent", { agent_id: agent.id, delete_assignments: true });
  await ask("delete", "ana", "delete_custom_tool", { custom_tool_id: tool.id });
  await ask("delete", "ana", "delete_variable", { variable_id: variable.id });
  await ask("delete", "ana", "delete_skill", { skill_id: skill.id });
  await ask("delete", "ana", "delete_knowledge_base", { knowledge_base_id: base.id });
  await ask("delete", "ana", "delete_integration", { integration_id: integration.id });
  const left = await ask<{ agents?: Made[] }>("delete", "ben", "list_agents", { query: "phishing desk" });
  expect(left.agents ?? []).toEqual([]);

  for (const { step, bytes } of steps) expect([step, bytes < MOST_BYTES]).toEqual([step, true]);
  expect(steps.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MOST.bytes);
  expect(steps.reduce((sum, { calls }) => sum + calls, 0)).toBeLessThan(MOST.calls);
}, 180_000);
