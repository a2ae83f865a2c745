import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startModel } from "../services/core-objects/runs/model-server.js";
import { call, post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";
import { idArgumentsOf, rightArguments } from "./core-people/arguments.js";
import { type Answered, type Ground, makeGround, PEOPLE, type Person } from "./core-people/ground.js";
import { argumentsOf, requiredOf, type Shown } from "./core-people/shown.js";
import { changesIn, type View, viewOf } from "./core-people/view.js";
import { NO_SUCH, wrongUses } from "./core-people/wrong-uses.js";

// Every tool that tools/list of core shows, used rightly and wrongly by the owner of an object, by three people with whom
// it is shared, and by a stranger. A refusal is a sentence that names nothing which the caller cannot see, and after it
// everything that anybody sees is as before. TOOLS=REGEX takes some of the tools.

/** What people hold, from nothing to all. */
const TIERS: readonly Person[] = ["stranger", "view", "config", "manage", "owner"];

/** Who may use a tool on what is shared with them, where its name and hints do not say it, and why. */
const NEEDS: Readonly<Record<string, { readonly tier: Person; readonly why: string }>> = {
  create_document: { tier: "manage", why: "a knowledge base is written by whom it is shared with to manage" },
  update_document: { tier: "manage", why: "a knowledge base is written by whom it is shared with to manage" },
  get_run: { tier: "owner", why: "a run is of the person who triggered it" },
  list_run_steps: { tier: "owner", why: "a run is of the person who triggered it" },
  update_run: { tier: "owner", why: "a run is of the person who triggered it" },
  inspect_agent_traces: { tier: "manage", why: "traces of an agent are read by who manages it" },
  get_trace_payload: { tier: "manage", why: "traces of an agent are read by who manages it" },
  search_knowledge: { tier: "view", why: "who can read no knowledge base does not have it" },
};

/** Arguments of which a made value is refused, by name or by tool and name, and what is said then. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  page_token: /not from this list/,
  company_managed: /only administrators/,
  etag: /changed after you read it/,
  remove_headers: /has no header \w+ to remove/,
  "create_document.file": /give one of content, file and url/,
  "create_document.url": /give one of content, file and url/,
  "update_document.file": /give one of content, file and url/,
  "create_knowledge_base.embedding_model": /give integration_id too/,
  "test_mcp_server.accept_tools": /without accept_tools to see the waiting tools/,
  "create_prompt.arguments": /the template does not use/,
  "update_prompt.put_arguments": /the template does not use/,
  "update_prompt.remove_arguments": /has no argument \w+ to remove/,
  "update_run.answer": /give either answer, approve or cancel/,
  "update_run.approve": /give either answer, approve or cancel/,
  "update_skill.remove_files": /has no file \w+ to remove/,
  "get_usage.deployment": /only administrators/,
  "get_usage.owner": /only administrators/,
  "inspect_agent_traces.started_before": /later than the start of the period/,
  "get_trace_payload.span_id": /the trace has no span/,
};

let program: Program;
let model: Awaited<ReturnType<typeof startModel>>;
let all: readonly Shown[];
let tools: readonly Shown[];
beforeAll(async () => {
  model = await startModel(() => ({ call: "ask_user", args: { question: "Which one?" } }));
  const much = ["CALLS_PER_MINUTE", "CALL_BURST", "USER_CALL_BURST"].map((name) => [name, "1000000"]);
  program = await startProgram({ env: Object.fromEntries(much) });
  const url = `${program.baseUrl}/mcp/core`;
  // search_knowledge is listed for who can read a knowledge base.
  await call(url, program.bootstrap.admin.api_key, "create_knowledge_base", { name: "The administrator's" });
  const { body } = await post(url, program.bootstrap.admin.api_key, "tools/list");
  all = body.result?.tools as Shown[];
  tools = all.filter(({ name }) => new RegExp(process.env.TOOLS ?? "").test(name));
}, 120_000);
afterAll(async () => {
  await program?.stop();
  await model?.close();
});

/** What the people see who own something. */
async function seen(ground: Ground): Promise<View> {
  const views = await Promise.all((["owner", "somebody"] as const).map((who) => viewOf(ground, who, all)));
  return new Map(views.flatMap((view) => [...view]));
}

function neededFor({ name, annotations }: Shown): Person {
  const listed = NEEDS[name];
  if (listed !== undefined) return listed.tier;
  if (annotations.readOnlyHint) return "view";
  if (name.startsWith("delete_")) return "manage";
  return name.startsWith("update_") ? "config" : "view";
}

const holds = (who: Person, tier: Person): boolean => TIERS.indexOf(who) >= TIERS.indexOf(tier);

/** What is wrong with an answer, whatever was asked. */
function problemsOf({ marks, ...ground }: Ground, who: Person, args: JsonObject, answered: Answered): string[] {
  const { refusal, result } = answered;
  const problems: string[] = [];
  const hidden = [
    ...[marks.others, ...ground.others.values()],
    ...(who === "owner" ? [] : [marks.kept, ...ground.kept.values()]),
    ...(who === "stranger" ? [marks.shared, ...ground.shared.values()] : []),
  ];
  const text = withoutSent(answered.text, args).toLowerCase();
  for (const one of hidden) if (text.includes(one.toLowerCase())) problems.push(`names ${one}`);
  if (result === undefined && refusal === "") problems.push("has no sentence");
  if (/internal error|\[\{|"code":|undefined|\[object/i.test(refusal)) problems.push("is raw");
  if (refusal.length > 2_000) problems.push(`has ${refusal.length} characters`);
  return problems;
}

/** An answer may repeat what its caller sent. */
function withoutSent(text: string, args: JsonObject): string {
  const sent = JSON.stringify(args).match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  const long = sent.map((quoted) => quoted.slice(1, -1)).filter(({ length }) => length > 3);
  return long.sort((a, b) => b.length - a.length).reduce((rest, one) => rest.replaceAll(one, "…"), text);
}

test("each tool, as each person, rightly and wrongly", { timeout: 1_800_000 }, async () => {
  const found: string[] = [];
  let [calls, grounds] = [0, 0];
  let ground: Ground | undefined;
  let before: View = new Map();
  for (const tool of tools) {
    for (const who of PEOPLE) {
      if (ground === undefined) {
        ground = await makeGround(program, `${model.url}/v1`);
        before = await seen(ground);
        grounds++;
      }
      const here = ground;
      const say = (what: string, answered: Answered): void =>
        void found.push(`${tool.name} as ${who}, ${what}: ${(answered.refusal || answered.text).slice(0, 400)}`);
      const ask = async (args: JsonObject, what: string): Promise<Answered> => {
        calls++;
        const answered = await here.ask(who, tool.name, args);
        for (const problem of problemsOf(here, who, args, answered)) say(`${what} ${problem}`, answered);
        return answered;
      };
      const ids = tool.annotations.destructiveHint ? ground.loose : ground.shared;
      const right = rightArguments(tool, ids, ground.emails.stranger);
      const unknown = new Map<string, string>();
      for (const { what, args, id } of wrongUses(tool, right, ground)) {
        const answered = await ask(args, what);
        if (answered.result !== undefined) say(`${what} is not refused`, answered);
        if (id === undefined) continue;
        const [name, kind] = what.split(": ") as [string, string];
        const said = answered.refusal.replaceAll(id, "ID");
        if (kind === NO_SUCH) unknown.set(name, said);
        else if (said !== unknown.get(name))
          say(`${what} is told apart from ${NO_SUCH} (${unknown.get(name)})`, answered);
      }
      const writes = !tool.annotations.readOnlyHint;
      const isOfObjects = NEEDS[tool.name] !== undefined || idArgumentsOf(tool).some(({ name }) => name in right);
      const mayUse = !isOfObjects || holds(who, neededFor(tool));
      if (writes && mayUse)
        for (const change of changesIn(before, await seen(ground)))
          found.push(`${tool.name} as ${who}, wrong uses change: ${change}`);
      const answered = await ask(right, "right use");
      if ((answered.result !== undefined) !== mayUse) say(`right use is ${mayUse ? "" : "not "}refused`, answered);
      if (writes && answered.result !== undefined) {
        if (tool.annotations.destructiveHint) {
          const again = await ask(right, "the second time");
          if (again.result !== undefined) say("the second time is not refused", again);
        }
        ground = undefined;
      } else {
        const changes = changesIn(before, await seen(ground));
        for (const change of changes) found.push(`${tool.name} as ${who} changes: ${change}`);
        if (changes.length > 0) ground = undefined;
      }
    }
  }
  process.stdout.write(`${tools.length} tools, ${calls} calls, ${grounds} grounds\n${found.join("\n")}\n`);
  expect(found).toEqual([]);
});

test("each argument that a tool does not require, as the owner", { timeout: 900_000 }, async () => {
  const found: string[] = [];
  let ground: Ground | undefined;
  for (const tool of tools.filter(({ annotations }) => !annotations.destructiveHint)) {
    ground ??= await makeGround(program, `${model.url}/v1`);
    for (const [name] of argumentsOf(tool)) {
      if (requiredOf(tool).includes(name)) continue;
      const args = rightArguments(tool, ground.shared, ground.emails.stranger, name);
      const { refusal, text, result } = await ground.ask("owner", tool.name, args);
      const refused = REFUSED[`${tool.name}.${name}`] ?? REFUSED[name];
      if (refused === undefined ? result !== undefined : refused.test(refusal)) continue;
      found.push(`${tool.name} ${JSON.stringify({ [name]: args[name] })}: ${(refusal || text).slice(0, 300)}`);
    }
    if (!tool.annotations.readOnlyHint) ground = undefined;
  }
  process.stdout.write(`${found.join("\n")}\n`);
  expect(found).toEqual([]);
});

test("who may change an object may not share it: that needs the manage tier", { timeout: 300_000 }, async () => {
  const found: string[] = [];
  const ground = await makeGround(program, `${model.url}/v1`);
  const sharing = all.filter(({ inputSchema }) => inputSchema.properties?.share !== undefined);
  expect(sharing.length).toBeGreaterThan(7);
  for (const tool of sharing) {
    for (const who of ["stranger", "view", "config", "manage"] as const) {
      for (const more of ["share", "unshare"]) {
        const args = rightArguments(tool, ground.shared, ground.emails.stranger, more);
        const { result, refusal } = await ground.ask(who, tool.name, args);
        if ((result !== undefined) !== (who === "manage")) found.push(`${tool.name} ${more} as ${who}: ${refusal}`);
      }
    }
  }
  expect(found).toEqual([]);
});
