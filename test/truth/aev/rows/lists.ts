import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { type KindName, LISTS } from "../seen.js";
import { inTenant, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";

/** Who sees more or less of a tenant. */
export const SEERS = [
  "administrator",
  "analyst",
  "reader",
  "granted",
  "launcher",
  "outsider",
  "both",
  "nobody",
] as const;

/** The sentence of who lacks a right. */
export const NO_RIGHT = (right: string): RegExp => new RegExp(`unknown tool|${right}`, "i");

/** How a tool is asked, and what of all rows it is to give, in which order. */
interface Question {
  readonly args?: (stage: Stage) => object;
  readonly only?: (row: Json, stage: Stage) => boolean;
  readonly order?: (a: Json, b: Json) => number;
}

interface List {
  readonly tool: string;
  readonly rows: string;
  readonly kind: KindName;
  /** What it is ordered by where nothing is said. */
  readonly order: (a: Json, b: Json) => number;
  readonly questions: readonly Question[];
  /** The right that is missing where the platform shows nobody's. */
  readonly right: string;
  /** What is true of a row. */
  readonly row: (row: Row, direct: Json, labels: readonly string[]) => void;
  /** Writes one more, as somebody else. */
  readonly another: (stage: Stage, i: number) => Promise<unknown>;
}

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** An instant with all its digits, so that it sorts as text. */
const digits = (at: string): string =>
  `${at.replace(/Z$/, "").padEnd(19, "0")}${at.includes(".") ? "" : "."}`.padEnd(30, "0");
const newest =
  (key: string, id: string) =>
  (a: Json, b: Json): number => {
    if (a[key] == null || b[key] == null)
      return a[key] == null && b[key] == null ? text(a[id], b[id]) : a[key] == null ? 1 : -1;
    return text(digits(b[key]), digits(a[key])) || text(a[id], b[id]);
  };
const byName =
  (key: string, id: string) =>
  (a: Json, b: Json): number =>
    text(a[key].toLowerCase(), b[key].toLowerCase()) || text(a[id], b[id]);

const need = (stage: Stage, method: string, path: string, body?: object) =>
  stage.platform.need(stage.world.emails.administrator!, method, `/api/tenants/${FIRST}${path}`, body);
const holds = (held: string | null, wanted: string): boolean =>
  (held ?? "").toLowerCase().includes(wanted.toLowerCase());
const hasOne = (held: readonly string[] | null, ...ids: readonly string[]): boolean =>
  (held ?? []).some((id) => ids.includes(id));

const LIST_TOOLS: readonly List[] = [
  {
    tool: "list_scenarios",
    rows: "scenarios",
    kind: "scenario",
    order: newest("scenario_updated_at", "scenario_id"),
    right: "ACCESS_ASSESSMENT",
    questions: [
      {},
      { args: () => ({ order_by: "name" }), order: byName("scenario_name", "scenario_id") },
      { args: () => ({ severities: ["high", "low"] }), only: (row) => ["high", "low"].includes(row.scenario_severity) },
      {
        args: ({ world }) => ({ updated_after: world.middle, order_by: "updated" }),
        only: (row, { world }) => row.scenario_updated_at > world.middle,
      },
      {
        args: ({ world }) => ({ updated_before: world.middle }),
        only: (row, { world }) => row.scenario_updated_at < world.middle,
      },
      { args: () => ({ categories: ["true"] }), only: (row) => row.scenario_category === "true" },
      {
        args: ({ world }) => ({ query: `plan_a 100% ${world.run}` }),
        only: (row, { world }) => holds(row.scenario_name, `plan_a 100% ${world.run}`),
      },
      {
        args: ({ world }) => ({ labels: [`RED-${world.run}`, world.ids.blue] }),
        only: (row, { world }) => hasOne(row.scenario_tags, world.ids.red!, world.ids.blue!),
      },
      {
        args: ({ world }) => ({ query: `same plan ${world.run}`, order_by: "name" }),
        only: (row, { world }) => holds(row.scenario_name, `same plan ${world.run}`),
        order: byName("scenario_name", "scenario_id"),
      },
    ],
    row(row, direct, labels) {
      expect(row.name).toBe(direct.scenario_name);
      expect(row.severity).toBe(direct.scenario_severity ?? undefined);
      expect(row.category).toBe(direct.scenario_category || undefined);
      expect([...((row.labels as string[]) ?? [])].sort()).toEqual([...labels].sort());
    },
    another: (stage, i) => need(stage, "POST", "/scenarios", { scenario_name: `Same plan ${stage.world.run} ${i}` }),
  },
  {
    tool: "list_simulations",
    rows: "simulations",
    kind: "simulation",
    order: newest("exercise_updated_at", "exercise_id"),
    right: "ACCESS_ASSESSMENT",
    questions: [
      {},
      { args: () => ({ order_by: "name" }), order: byName("exercise_name", "exercise_id") },
      { args: () => ({ order_by: "started" }), order: newest("exercise_start_date", "exercise_id") },
      {
        args: ({ world }) => ({ started_after: world.middle }),
        only: (row, { world }) => row.exercise_start_date > world.middle,
      },
      {
        args: ({ world }) => ({ scenario_id: world.ids.full }),
        only: (row, { world }) => row.exercise_id === world.ids.running,
      },
      {
        args: () => ({ statuses: ["scheduled", "canceled"] }),
        only: (row) => /SCHEDULED|CANCELED/.test(row.exercise_status),
      },
      {
        args: ({ world }) => ({ labels: [`red-${world.run}`, `blue-${world.run}`] }),
        only: (row, { world }) => hasOne(row.exercise_tags, world.ids.red!, world.ids.blue!),
      },
    ],
    row(row, direct) {
      expect(row.name).toBe(direct.exercise_name);
      expect(row.status).toBe(direct.exercise_status.toLowerCase());
      expect(Date.parse(String(row.started_at ?? ""))).toEqual(Date.parse(direct.exercise_start_date ?? ""));
      for (const { type, avgResult } of direct.exercise_global_score as Json[]) {
        expect((row.outcomes as Json)?.[type.toLowerCase()]).toBe(avgResult.toLowerCase());
      }
    },
    another: (stage, i) => need(stage, "POST", "/exercises", { exercise_name: `Same run ${stage.world.run} ${i}` }),
  },
  {
    tool: "list_endpoints",
    rows: "endpoints",
    kind: "endpoint",
    order: byName("asset_name", "asset_id"),
    right: "ACCESS_ASSETS",
    questions: [
      {},
      {
        args: ({ world }) => ({ query: `image-${world.run}` }),
        only: (row, { world }) => holds(row.asset_name, `image-${world.run}`),
      },
      { args: () => ({ query: "_mage" }), only: (row) => holds(row.asset_name, "_mage") },
      {
        args: () => ({ platforms: ["windows", "macos"] }),
        only: (row) => ["Windows", "MacOS"].includes(row.endpoint_platform),
      },
      {
        args: ({ world }) => ({ hostname: `IMAGE-${world.run}` }),
        only: (row, { world }) => row.asset_name === `image-${world.run}`,
      },
      { args: () => ({ hostname: "true" }), only: () => false },
      {
        args: ({ world }) => ({ ip: `${world.network}.1` }),
        only: (row, { world: { ids } }) => [ids.machine0, ids.multi, ids.otherMachine].includes(row.asset_id),
      },
      {
        args: ({ world }) => ({ labels: [`red-${world.run}`, `blue-${world.run}`] }),
        only: (row, { world }) => hasOne(row.asset_tags, world.ids.red!, world.ids.blue!),
      },
    ],
    row(row, direct, labels) {
      expect(row).toMatchObject({ name: direct.asset_name, platform: direct.endpoint_platform.toLowerCase() });
      expect([...((row.labels as string[]) ?? [])].sort()).toEqual([...labels].sort());
      const agents = (row.agents ?? []) as Json[];
      expect(agents.map(({ active }) => active)).toEqual(
        direct.asset_agents.map(({ agent_active }: Json) => agent_active),
      );
    },
    async another(stage, i) {
      const name = `image-${stage.world.run}`;
      const like = {
        endpoint_hostname: name,
        endpoint_platform: "Linux",
        endpoint_arch: "x86_64",
        endpoint_is_eol: false,
      };
      const body = {
        ...like,
        asset_name: name,
        endpoint_ips: [`10.77.8.${i}`],
        endpoint_mac_addresses: [],
        asset_tags: [],
      };
      await need(stage, "POST", "/endpoints/agentless", body);
    },
  },
  {
    tool: "list_findings",
    rows: "findings",
    kind: "finding",
    order: newest("finding_created_at", "finding_id"),
    right: "ACCESS_FINDINGS",
    questions: [
      {},
      {
        args: ({ world }) => ({ created_after: world.middle }),
        only: (row, { world }) => row.finding_created_at > world.middle,
      },
      { args: () => ({ types: ["cve"] }), only: (row) => row.finding_type === "cve" },
      ...["admin_username", "portscan", "kerberoastable_account"].map((type) => ({
        args: () => ({ types: [type] }),
        only: (row: Json) => row.finding_type === type,
      })),
      {
        args: ({ world }) => ({ query: `${world.run}_1` }),
        only: (row, { world }) => holds(row.finding_value, `${world.run}_1`),
      },
    ],
    row(row, direct) {
      expect(row).toMatchObject({ type: direct.finding_type, value: direct.finding_value });
      expect((row.inject as Json)?.id).toBe(direct.finding_inject?.inject_id);
      expect(((row.endpoints ?? []) as Json[]).map(({ id }) => id)).toEqual(
        direct.finding_assets.map(({ asset_id }: Json) => asset_id),
      );
    },
    another: (stage, i) =>
      need(stage, "POST", "/findings", {
        finding_field: "stdout",
        finding_type: "ipv4",
        finding_labels: [],
        finding_value: `10.78.${i}.${Date.now() % 250}`,
        finding_inject_id: stage.world.ids.atomic,
      }),
  },
  {
    tool: "list_attack_patterns",
    rows: "attack_patterns",
    kind: "technique",
    order: byName("attack_pattern_name", "attack_pattern_id"),
    right: "",
    questions: [
      {},
      {
        args: ({ world }) => ({ query: world.run }),
        only: (row, { world }) =>
          holds(row.attack_pattern_name, world.run) || holds(row.attack_pattern_external_id, world.run),
      },
      {
        args: ({ world }) => ({ query: world.run, with_descriptions: true }),
        only: (row, { world }) =>
          holds(row.attack_pattern_name, world.run) || holds(row.attack_pattern_external_id, world.run),
      },
    ],
    row(row, direct) {
      expect(row).toMatchObject({ name: direct.attack_pattern_name, external_id: direct.attack_pattern_external_id });
      expect((row.parent as Json)?.id).toBe(direct.attack_pattern_parent ?? undefined);
    },
    another: (stage, i) =>
      need(stage, "POST", "/attack_patterns", {
        attack_pattern_name: `Account use ${stage.world.run}`,
        attack_pattern_external_id: `T8${i}.${stage.world.run}${Date.now() % 1000}`,
        attack_pattern_platforms: [],
        attack_pattern_kill_chain_phases: [],
      }),
  },
];

/** Tools that list, each through all its pages. */
export const listTruths: readonly Truth<Stage>[] = LIST_TOOLS.map((list) => ({
  tool: list.tool,
  cases: [
    ...list.questions.map((question, i) => ({
      about: `gives what the platform has, once and in order: question ${i + 1}`,
      as: i === 0 ? SEERS : (["administrator", "analyst", "outsider"] as const),
      prove: (stage: Stage, person: string) => proveQuestion(stage, person, list, question),
    })),
    {
      about: "gives what did not change once, with rows written in between",
      as: ["analyst"],
      async prove(stage: Stage, person: string) {
        const before = await seenBy(stage, person).of(list.kind);
        let i = 0;
        const between = async () => void (i < 6 && (await list.another(stage, i++)));
        const { rows } = await readWhole(stage, person, { tool: list.tool, rows: list.rows, pageSize: 7, between });
        const told = new Set(rows.map(({ id }) => id));
        const lost = before.map((row) => row[LISTS[list.kind].id]).filter((id) => !told.has(id));
        expect(lost).toEqual([]);
      },
    },
    {
      about: "refuses blanks, unknown labels and other tenants in words",
      as: ["analyst", "outsider"],
      async prove(stage: Stage, person: string) {
        const { ids } = stage.world;
        await refuses(stage, person, list.tool, { query: "  " }, /more than blanks/);
        const elsewhere = person === "outsider" ? ids.first! : ids.second!;
        await refuses(stage, person, list.tool, { tenant_id: elsewhere }, /not a member of tenant/);
        if (["scenario", "simulation", "endpoint"].includes(list.kind)) {
          const label = person === "outsider" ? ids.red! : ids.otherTag!;
          await refuses(stage, person, list.tool, { labels: [label] }, /no label/);
        }
      },
    },
    {
      about: "tells who has no account so",
      as: ["stranger"],
      prove: (stage: Stage, person: string) => refuses(stage, person, list.tool, {}, /no account|unknown tool/),
    },
  ],
}));

async function proveQuestion(stage: Stage, person: string, list: List, question: Question): Promise<void> {
  const seen = seenBy(stage, person);
  const all = await seen.mayList(list.kind);
  const args = { ...inTenant(stage, person), ...question.args?.(stage) };
  const labels = await seen.labels();
  if (all === undefined) {
    await refuses(stage, person, list.tool, args, NO_RIGHT(list.right));
    return;
  }
  const { id } = LISTS[list.kind];
  const expected = all.filter((row) => question.only?.(row, stage) ?? true).sort(question.order ?? list.order);
  if ("labels" in args && stage.world.tenantOf(person) !== FIRST) {
    await refuses(stage, person, list.tool, args, /no label/);
    return;
  }
  if ("scenario_id" in args && stage.world.tenantOf(person) !== FIRST) {
    await refuses(stage, person, list.tool, args, /there is no scenario/);
    return;
  }
  const { refusal } = await personOf(stage, person).ask(list.tool, { ...args, page_size: 1 });
  // Whom the platform shows an empty list for lack of a right is told of the right.
  if (refusal !== "" && expected.length === 0) {
    expect(refusal).toMatch(NO_RIGHT(list.right));
    return;
  }
  const { rows } = await readWhole(stage, person, { tool: list.tool, rows: list.rows, args, pageSize: 7 });
  expect(rows.map((row) => row.id)).toEqual(expected.map((row) => row[id]));
  const tags = (row: Json): string[] =>
    (row.scenario_tags ?? row.exercise_tags ?? row.asset_tags ?? []).map((one: string) => labels.get(one));
  for (const [i, row] of rows.entries()) list.row(row, expected[i], tags(expected[i]));
}
