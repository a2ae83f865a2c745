import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect } from "vitest";
import { realPlatform, truth } from "../frame/real.js";
import { ask as askAll } from "../from-tools-list/ask.js";
import { type Caller, newCaller, rowsIn, type Shown } from "../from-tools-list/caller.js";
import {
  changed,
  counts,
  isFault,
  kept,
  readerOf,
  rowsAgainstReads,
  searches,
  wrongReferences,
  wrongTexts,
  zones,
} from "./classes.js";
import type { Json } from "./platform.js";
import { ask } from "./rows/lives.js";
import { personOf, type Stage, startStage, stopStage } from "./stage.js";
import { FIRST } from "./world.js";

// Classes of faults in all tools that the administrator sees: what tools/list shows says where each can occur.

const { settings, missing } = realPlatform("AEV_REAL_URL", "AEV_REAL_ISSUER", "AEV_REAL_DATABASE");

let stage: Stage;
let caller: Caller;

beforeAll(async () => {
  if (settings === undefined) return;
  stage = await startStage({
    url: settings.AEV_REAL_URL,
    issuer: settings.AEV_REAL_ISSUER,
    admin: process.env.AEV_REAL_ADMIN ?? "admin@example.com",
  });
  const { ids, run } = stage.world;
  const article = { article_name: `Bank warns ${run}`, article_content: "Mailboxes", article_author: "Newsroom" };
  const more = { article_channel: ids.channel, article_documents: [] };
  await ask(stage, FIRST, "POST", `/scenarios/${ids.full}/articles`, { ...article, ...more });
  const { name, email, key } = personOf(stage, "administrator");
  caller = await newCaller(stage.product.baseUrl, "aev", name, email, key);
}, 300_000);

afterAll(() => (stage === undefined ? undefined : stopStage(stage)), 120_000);

const writes = (): Shown[] => caller.tools.filter((one) => one.annotations.readOnlyHint !== true);
const lists = (): Shown[] => caller.tools.filter((one) => rowsIn(one) !== undefined);
/** Only CVEs have a score, and no second simulation is looked for. */
const isMeant = (tool: string, args: object): boolean =>
  (tool === "list_findings" && "order_by" in args) ||
  (tool === "inspect_simulation_comparison" && "other_simulation_id" in args);
/** How many tools a class was looked for in. */
const say = (what: string, tools: readonly unknown[], calls: number): unknown =>
  process.stdout.write(`${what}: ${tools.length} tools, ${calls} calls\n`);

truth(
  "refused but written: a reference to nothing is refused, and nothing changes",
  missing,
  async () => {
    const wrong: string[] = [];
    const tools = new Set<string>();
    let calls = 0;
    for (const shown of writes()) {
      for (const args of await wrongReferences(caller, shown)) {
        tools.add(shown.name);
        calls++;
        const before = kept(settings!.AEV_REAL_DATABASE);
        const { result, refusal } = await caller.person.ask(shown.name, args);
        const differs = changed(before, kept(settings!.AEV_REAL_DATABASE));
        const call = `${shown.name} ${JSON.stringify(args)}`.slice(0, 300);
        if (result !== undefined) wrong.push(`${call}: is taken`);
        else if (isFault(refusal)) wrong.push(`${call}: ${refusal}`);
        if (differs.length > 0) wrong.push(`${call}: ${refusal.slice(0, 100)}: ${differs.join(", ")}`);
      }
    }
    say("refused but written", [...tools], calls);
    expect(wrong).toEqual([]);
  },
  900_000,
);

/** Arguments that may hold any text: a file's content, and what is kept as JSON. */
const ANY_TEXT = /^(upload_document.*"content":"a|set_expectation_result.*"source_name":"a)/;

truth(
  "refused but written: a text that no database takes is refused, and nothing changes",
  missing,
  async () => {
    const wrong: string[] = [];
    const tools = new Set<string>();
    let calls = 0;
    for (const shown of writes()) {
      for (const args of await wrongTexts(caller, shown)) {
        if (ANY_TEXT.test(`${shown.name} ${JSON.stringify(args)}`)) continue;
        tools.add(shown.name);
        calls++;
        const before = kept(settings!.AEV_REAL_DATABASE);
        const { result, refusal } = await caller.person.ask(shown.name, args);
        const differs = changed(before, kept(settings!.AEV_REAL_DATABASE));
        const call = `${shown.name} ${JSON.stringify(args)}`.slice(0, 300);
        if (result !== undefined) wrong.push(`${call}: is taken`);
        else if (isFault(refusal)) wrong.push(`${call}: ${refusal}`);
        if (differs.length > 0) wrong.push(`${call}: ${refusal.slice(0, 100)}: ${differs.join(", ")}`);
      }
    }
    say("refused texts", [...tools], calls);
    expect(wrong).toEqual([]);
  },
  900_000,
);

truth(
  "units and zones: a filter by time takes an instant in any zone",
  missing,
  async () => {
    const tools = lists().filter((one) =>
      Object.values(one.inputSchema.properties ?? {}).some((p) => p.format === "date-time"),
    );
    const all = [];
    for (const shown of tools) all.push(await zones(caller, shown));
    say(
      "zones",
      tools,
      all.reduce((sum, one) => sum + one.asked, 0),
    );
    expect(all.flatMap(({ wrong }) => wrong)).toEqual([]);
  },
  300_000,
);

truth(
  "sums over different sets: numbers in rows are those of the lists that they count",
  missing,
  async () => {
    const { asked, wrong } = await counts(caller);
    say("sums", ["list_teams", "list_asset_groups", "list_injector_contracts", "list_injects"], asked);
    expect(wrong).toEqual([]);
  },
  300_000,
);

truth("nothing to change: an update of nothing is refused, and nothing changes", missing, async () => {
  const wrong: string[] = [];
  const tools = writes().filter(({ name }) => name.startsWith("update_"));
  for (const shown of tools) {
    const made = await caller.make(caller.asTool(shown));
    const args = Object.fromEntries(Object.entries(made).filter(([name]) => /_id$/.test(name)));
    const before = kept(settings!.AEV_REAL_DATABASE);
    const { refusal } = await caller.person.ask(shown.name, args);
    const differs = changed(before, kept(settings!.AEV_REAL_DATABASE));
    if (!/to change/.test(refusal) || differs.length > 0) wrong.push(`${shown.name}: ${refusal} ${differs.join(", ")}`);
  }
  say("nothing to change", tools, tools.length);
  expect(wrong).toEqual([]);
});

truth(
  "found by another column, promises more: a list searches where it says, and nowhere else",
  missing,
  async () => {
    const tools = lists().filter((one) => one.inputSchema.properties?.query !== undefined);
    const wrong: string[] = [];
    let calls = 0;
    for (const shown of tools) {
      const found = await searches(caller, shown);
      calls += found.asked;
      if (found.asked === 0) process.stdout.write(`not asked: ${shown.name}\n`);
      wrong.push(...found.wrong);
    }
    say("where lists search", tools, calls);
    expect(wrong).toEqual([]);
  },
  900_000,
);

truth(
  "lists that lose what the single read has: rows say what a read says, or that they leave it out",
  missing,
  async () => {
    const tools = lists().filter((one) => readerOf(caller, one.name) !== undefined);
    const wrong: string[] = [];
    let calls = 0;
    for (const shown of tools) {
      const found = await rowsAgainstReads(caller, shown);
      calls += found.asked;
      if (found.asked === 0) process.stdout.write(`not asked: ${shown.name}\n`);
      wrong.push(...found.wrong);
    }
    say("rows against reads", tools, calls);
    expect(wrong).toEqual([]);
  },
  900_000,
);

truth(
  "the platform's sentence, or a 500: each argument at its edges, each filter against all rows",
  missing,
  async () => {
    const found: string[] = [];
    const calls = await askAll(caller, /./, "lists,edges", ({ tool, args, what }) => {
      if (!isMeant(tool, args)) found.push(`${tool} ${JSON.stringify(args)}: ${what}`);
    });
    say(
      "edges and filters",
      caller.tools.filter((one) => one.annotations.readOnlyHint === true),
      calls,
    );
    expect(found).toEqual([]);
  },
  1_800_000,
);

truth("rights that whoami leaves out: it lists each that a tool needs and a role gives", missing, async () => {
  const folder = new URL("../../../proto/aev/v1/", import.meta.url);
  const protos = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8"));
  const needs = new Set(protos.join("").match(/(?<=needs\) = ")[A-Z_]+/g));
  for (const [name, role, tenant] of [
    ["analyst", "analystRole", FIRST],
    ["reader", "readerRole", FIRST],
    ["outsider", "outsiderRole", stage.world.ids.second!],
    ["both", "bothRole", stage.world.ids.second!],
  ] as const) {
    const { role_capabilities: given } = await ask(stage, tenant, "GET", `/roles/${stage.world.ids[role]}`);
    const { tenants } = await personOf(stage, name).get<Json>("whoami");
    const told = tenants.find((one: Json) => one.id === tenant);
    const wanted = (given as string[]).filter(
      (right) => needs.has(right) && (told.reads_only !== true || /^ACCESS_/.test(right)),
    );
    expect(wanted.length).toBeGreaterThan(4);
    expect(wanted.filter((right) => !told.capabilities.includes(right))).toEqual([]);
    expect(told.capabilities.filter((right: string) => !given.includes(right))).toEqual([]);
  }
  say("rights of whoami", [...needs], needs.size);
});
