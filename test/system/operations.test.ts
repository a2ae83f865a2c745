import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type Program, startProgram } from "../support/program.js";
import { expressionOf } from "../support/promql.js";

// Alert rules and dashboard name only metrics, labels and values that the program exports.

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(ROOT, "docs/operations", file), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}
const RULES = (parse(read("alerts.yaml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);

interface Panel {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const PANELS = (JSON.parse(read("dashboard.json")) as { panels: Panel[] }).panels;

/** Where it is, and what it asks. */
const EXPRESSIONS = [
  ...RULES.map(({ alert, expr, annotations }) => ({ at: alert, expr, shown: annotations.summary })),
  ...PANELS.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ at: title, expr, shown: legendFormat })),
  ),
];

/** What nothing is refused by in this test; its labels are those of its declaration. */
const WITHOUT_SERIES = { sallyport_platform_calls_refused_total: ["process", "server", "limit"] };
/** What Prometheus adds to everything that it reads. */
const OF_PROMETHEUS = ["job", "instance"];

let program: Program;
/** The labels of each metric, and the values that each label had. */
let exported: Map<string, Map<string, Set<string>>>;

beforeAll(async () => {
  program = await startProgram({
    args: ["--workers", "2"],
    env: { METRICS_PORT: "0", AUDIT_RECEIVERS: "file:///nowhere/that/is/audit.jsonl" },
    readyWithin: 240_000,
  });
  const { admin, analyst } = program.bootstrap;
  const call = async (server: string, method: string, params: object, key = analyst.api_key): Promise<string> => {
    const answer = await fetch(`${program.baseUrl}/mcp/${server}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return answer.text();
  };
  for (const server of ["cti", "aev", "grc", "core"]) {
    await call(server, "tools/list", {});
    await call(server, "tools/call", { name: "whoami", arguments: {} });
  }
  await call("cti", "tools/list", {}, "slp_bad");
  const tool = (name: string, args: object): Promise<string> =>
    call("core", "tools/call", { name, arguments: args }, admin.api_key);
  const made = await tool("create_agent", { name: "Metrics", instructions: "Answer." });
  const { agent } = JSON.parse(made).result.structuredContent as { agent: { id: string } };
  await tool("trigger_run", { agent_id: agent.id, input: "Go." });

  const url = /Metrics\s+(http:\S+)/.exec(program.output())?.[1] ?? "";
  let text = "";
  for (let i = 0; i < 300 && !text.includes("sallyport_runs_ended_total{"); i++) {
    await sleep(200);
    text = await (await fetch(url)).text();
  }
  exported = labelsOf(text);
}, 300_000);
afterAll(() => program?.stop());

function labelsOf(exposition: string): Map<string, Map<string, Set<string>>> {
  const found = new Map<string, Map<string, Set<string>>>();
  for (const line of exposition.split("\n")) {
    const declared = /^# TYPE (\S+) /.exec(line)?.[1];
    if (declared !== undefined) found.set(declared, found.get(declared) ?? new Map());
    const [, name, labels = ""] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const own = found.get(name) ?? new Map<string, Set<string>>();
    found.set(name, own);
    for (const [, label = "", value = ""] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      own.set(label, (own.get(label) ?? new Set()).add(value));
  }
  return found;
}

/** What an expression names and nobody exports. */
function missingIn(expr: string, shown: string): string[] {
  const { metrics, labels } = expressionOf(expr);
  const unknown = metrics
    .filter(({ metric }) => metric !== "up" && !exported.has(metric))
    .map(({ metric }) => `no metric ${metric}`);
  const all = new Set<string>(OF_PROMETHEUS);
  const wrong = metrics.flatMap(({ metric, matchers }) => {
    const declared = (WITHOUT_SERIES as Record<string, string[]>)[metric];
    const own = new Set([...(declared ?? exported.get(metric)?.keys() ?? []), ...OF_PROMETHEUS]);
    for (const label of own) all.add(label);
    if (own.size === OF_PROMETHEUS.length && metric !== "up") return [`${metric} has no series`];
    return matchers.filter(({ label }) => !own.has(label)).map(({ label }) => `${metric} has no label ${label}`);
  });
  const told = [...shown.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = ""]) => label);
  const grouped = [...labels, ...told].filter((label) => !all.has(label)).map((label) => `no label ${label}`);
  return [...unknown, ...wrong, ...grouped];
}

test("what alerts and panels ask is exported", () => {
  expect(EXPRESSIONS.length).toBeGreaterThan(40);
  const missing = EXPRESSIONS.flatMap(({ at, expr, shown }) => missingIn(expr, shown).map((what) => `${at}: ${what}`));
  expect(missing).toEqual([]);
});

test("what is not exported is found", () => {
  expect(missingIn('sum by (nobody) (rate(sallyport_ready{no="1"}[5m])) + sallyport_nothing', "{{other}}")).toEqual([
    "no metric sallyport_nothing",
    "sallyport_ready has no label no",
    "sallyport_nothing has no series",
    "no label nobody",
    "no label other",
  ]);
});

test("every metric of the service's own is in the dashboard, so that nothing is counted for nobody", () => {
  const shown = PANELS.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join("\n");
  const unseen = [...exported.keys()].filter((name) => /^(?:sallyport|mcp)_/.test(name));
  const base = new Set(unseen.map((name) => name.replace(/_(?:bucket|sum|count)$/, "")));
  expect(
    [...base].filter((name) => !shown.includes(name) && !/_(?:pid|workers_wanted|workers|working_limit)$/.test(name)),
  ).toEqual(["sallyport_audit_export_lag_seconds"]);
});

test("each alert has one name, a severity, and a row in the runbook that says what to do", () => {
  const page = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
  const names = RULES.map(({ alert }) => alert);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !page.includes(`| ${name} |`))).toEqual([]);
  const rows = [...page.matchAll(/^\| (Sallyport\w+) \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(names);
  for (const { labels } of RULES) expect(["critical", "warning", "info"]).toContain(labels.severity);
});

test("panels do not lie over each other", () => {
  const places = PANELS.map(({ gridPos: { x, y } }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(PANELS.length);
});
