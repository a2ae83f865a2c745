import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commentOf } from "../../services/shared/tools/comments.js";
import { readImage } from "../../services/shared/tools/image.js";
import { TENANT_MEMBER } from "../../services/shared/tools/tenant.js";
import { readTools, type Tool } from "../../services/shared/tools/tools.js";
import { givesIds, type IdArgument, idArgumentsOf } from "../support/id-arguments.js";
import { call, post, toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";
import { createMakeArguments, type MakeArguments, UNKNOWN_ID } from "./wrong-ids/made-arguments.js";

// A model that calls a tool with an id that does not exist, or with a name in
// place of an id, reads which tool returns such ids: for every id argument of
// every tool, over the built-in platforms, and through URLs that narrow the list.

const TOOLS = readTools(readImage());
const SERVERS = ["aev", "cti", "grc", "core"];
const NAME = "Operation Cobalt Heron";

/** A well-formed id that nothing has. */
function unknownId({ path }: IdArgument): string {
  const name = path.at(-1);
  if (name === "trace_id") return "0f".repeat(16);
  return name === "span_id" ? "0f".repeat(8) : UNKNOWN_ID;
}

const FILTER = "OpenAEV filters by it and returns nothing, also for what it does not know";
const GONE = "what ran is kept after its agent or assignment was deleted, so any id is looked for";
/** Calls that are no errors, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "aev/list_expectations.inject_id unknown": FILTER,
  "aev/list_lessons_answers.player_id unknown": FILTER,
  "core/inspect_agent_traces.target_agent_id name": GONE,
  "core/inspect_agent_traces.target_agent_id unknown": GONE,
  "core/list_runs.agent_id name": GONE,
  "core/list_runs.agent_id unknown": GONE,
  "core/list_runs.assignment_id name": GONE,
  "core/list_runs.assignment_id unknown": GONE,
};

let program: Program;
let key: string;
let make: MakeArguments;
/** Ids that exist, by the tools that return them. */
const ids = new Map<string, Promise<string | undefined>>();

beforeAll(async () => {
  program = await startProgram({ env: { CALLS_PER_MINUTE: "100000" } });
  key = program.bootstrap.admin.api_key;
  const { tenants } = await call<{ tenants: { id: string }[] }>(at("aev"), key, "whoami");
  const grc = await call<{ tenants: { id: string }[] }>(at("grc"), key, "list_tenants");
  make = createMakeArguments({
    tools: TOOLS,
    tenants: { aev: tenants[0]!.id, grc: grc.tenants[0]!.id },
    realId: async (server, sources) => {
      for (const source of sources) {
        const id = await idOf(server, source);
        if (id !== undefined) return id;
      }
      return undefined;
    },
  });
  await makeGround(tenants[0]!.id, grc.tenants[0]!.id);
});
afterAll(() => program?.stop());

const at = (server: string, query = ""): string => `${program.baseUrl}/mcp/${server}${query}`;

/** What the built-in platforms do not have from the start. */
async function makeGround(tenant_id: string, grcTenant: string): Promise<void> {
  const has = (source: string, id: string): unknown => ids.set(source, Promise.resolve(id));
  const create = async (server: string, name: string, args: JsonObject): Promise<string> => {
    const id = firstId(await call(at(server), key, name, args));
    if (id === undefined) throw new Error(`${name} returns no id`);
    return id;
  };
  const core = (name: string, args: JsonObject) => create("core", name, { name: "wrong ids", ...args });
  const own = { type: "openai", endpoint: "http://127.0.0.1:9/v1", models: ["none"] };
  const integration = await core("create_integration", own);
  has("core/list_integrations", integration);
  const agent = await core("create_agent", { resource_ids: [integration], instructions: "None." });
  has("core/list_agents", agent);
  has("core/list_assignments", await core("create_assignment", { agent_id: agent, input: "None." }));
  has("core/list_variables", await core("create_variable", { name: "WRONG_IDS", value: "1" }));
  const knowledge_base_id = await core("create_knowledge_base", {});
  has("core/list_knowledge_bases", knowledge_base_id);
  has("core/list_documents", await core("create_document", { knowledge_base_id, content: "None." }));
  const tool = { name: "wrong_ids", description: "None.", method: "get", url: "https://example.com/" };
  has("core/list_custom_tools", await core("create_custom_tool", tool));
  has("core/list_runs", await create("core", "trigger_run", { agent_id: agent, input: "None." }));

  // One that has run.
  const simulation_id = await create("aev", "list_simulations", { tenant_id, statuses: ["finished"] });
  has("aev/list_injects", await create("aev", "list_injects", { tenant_id, simulation_id }));

  // One that is not locked.
  type Assessments = { risk_assessments: { id: string; locked?: boolean }[] };
  const asked = { tenant_id: grcTenant };
  const { risk_assessments } = await call<Assessments>(at("grc"), key, "list_risk_assessments", asked);
  has("grc/list_risk_assessments", risk_assessments.find(({ locked }) => locked !== true)!.id);

  const malware = await create("cti", "search_entities", { types: ["Malware"] });
  for (const source of ["search_all", "find_entity_by_name", "lookup_ioc"]) has(`cti/${source}`, malware);
  const note = { content: "None.", object_ids: [malware] };
  has("cti/list_containers", await create("cti", "list_reports", {}));
  has("cti/list_entity_notes", await create("cti", "create_note", note));
}

/** The first id that a tool returns. */
function idOf(server: string, name: string): Promise<string | undefined> {
  const source = `${server}/${name}`;
  const known = ids.get(source);
  if (known !== undefined) return known;
  const tool = TOOLS.find((one) => one.server === server && one.name === name)!;
  // One that needs its own ids finds none, instead of asking itself.
  ids.set(source, Promise.resolve(undefined));
  const found = make(tool).then(async (args) => {
    const { body } = await post(at(server), key, "tools/call", { name, arguments: args });
    return firstId(body.result?.structuredContent);
  });
  ids.set(source, found);
  return found;
}

function firstId(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("id" in value && typeof value.id === "string") return value.id;
  for (const [name, inner] of Object.entries(value)) {
    // Results name their tenant first.
    if (name === TENANT_MEMBER) continue;
    const id = firstId(inner);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** The tools of a server that a text names. */
function namedIn(server: string, text: string): Tool[] {
  return TOOLS.filter((tool) => tool.server === server && new RegExp(`\\b${tool.name}\\b`).test(text));
}

/** What is wrong with the answer to a call with this value; undefined if nothing is. */
async function problemOf(one: IdArgument, value: string, query: string, list: ReadonlySet<string>) {
  const { tool, field, path } = one;
  const args = await make(tool, path, value);
  const { body, text: raw } = await post(at(tool.server, query), key, "tools/call", {
    name: tool.name,
    arguments: args,
  });
  const text = body.result?.isError ? (body.result.content as { text: string }[])[0]!.text : undefined;
  const where = `${tool.server}/${tool.name} ${path.join(".")}=${value}:`;
  if (text === undefined) return `${where} no error: ${raw.slice(0, 200)}`;
  const absent = namedIn(tool.server, text).filter(({ name }) => !list.has(name));
  if (absent.length > 0) return `${where} names ${absent.map(({ name }) => name).join()}, which is not listed: ${text}`;
  const sources = namedIn(tool.server, commentOf(field)).filter(({ readOnly, result }) => readOnly && givesIds(result));
  const here = sources.filter(({ name }) => list.has(name));
  const isSaid =
    here.length > 0
      ? namedIn(tool.server, text).some((named) => here.includes(named))
      : sources.some(({ toolset }) => new RegExp(`leaves out return valid ids: toolset .*\\b${toolset}\\b`).test(text));
  return isSaid ? undefined : `${where} does not say where ids come from: ${text}`;
}

const VIEWS = SERVERS.flatMap((server) =>
  ["", "?readonly=1", "?toolsets=basic"].map((query) => [server, query] as const),
);

test.each(VIEWS)("%s%s: each wrong id is answered with a tool that returns such ids", async (server, query) => {
  const list = new Set(await toolNames(at(server, query), key));
  const all = TOOLS.filter((tool) => tool.server === server && list.has(tool.name)).flatMap((tool) =>
    idArgumentsOf(tool),
  );
  expect(all.length).toBeGreaterThan(8);
  const problems: string[] = [];
  for (const one of all) {
    for (const [kind, value] of [
      ["unknown", unknownId(one)],
      ["name", NAME],
    ] as const) {
      const isExcepted = `${server}/${one.tool.name}.${one.path.join(".")} ${kind}` in EXCEPTIONS;
      const problem = await problemOf(one, value, query, list);
      if (isExcepted ? problem === undefined : problem !== undefined) problems.push(problem ?? "an exception too many");
    }
  }
  expect(problems).toEqual([]);
});
