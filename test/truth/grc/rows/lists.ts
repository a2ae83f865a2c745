import { expect } from "vitest";
import { everyPage, type Row } from "../../frame/pages.js";
import { sameIds, type Truth } from "../../frame/table.js";
import type { Query } from "../platform.js";
import { idOf, LISTS, type Seen, type SeenTenant } from "../seen.js";
import { personOf, readWhole, refuses, type Stage, seenBy, tenantOf } from "../stage.js";
import { GROUP } from "../world.js";
import { NOWHERE, STRANGERS, WORKERS } from "./tenants.js";

/** How a tool is asked, and what the platform says to the same question. */
interface Question {
  readonly args?: (stage: Stage) => object;
  readonly query?: (stage: Stage) => Query;
  /** What the question names, by its path and key: who cannot read that at the platform is refused. */
  readonly about?: { readonly path: string; readonly key: string; readonly argument: string };
  /** Rows without this come last, wherever the platform's database puts them: SQLite first, PostgreSQL last. */
  readonly lastWithout?: string;
  /** Leaves rows out of what the platform lists. */
  readonly only?: (row: Row, stage: Stage) => boolean;
}

/** A list of a tenant's objects. */
export interface List {
  readonly tool: string;
  readonly rows: string;
  readonly path: string;
  readonly ordering: string;
  /** The right without which the tool is not offered. */
  readonly questions: readonly Question[];
  /** What is true of a row. */
  readonly row?: (row: Row, direct: Row) => void;
  /** What of the tenant the tool lists, where that is not the list alone. */
  readonly expected?: (rows: readonly Row[], seen: Seen, tenant: SeenTenant) => Promise<readonly Row[]>;
  /** Makes one more, as somebody else; its id. */
  readonly another: (stage: Stage, i: number) => Promise<string>;
}

/** What stands for the name of an attack outcome by a path that one may not see. */
export const HIDDEN_PATH = "an attack path that you may not see";

const need = (stage: Stage, method: string, path: string, body?: object) =>
  stage.platform.need(stage.world.emails.administrator!, method, path, body);

/** What the platform itself takes for an audit's requirements: those of the implementation groups that it has chosen. */
async function inScope(rows: readonly Row[], seen: Seen): Promise<readonly Row[]> {
  const ids = new Set<string>();
  for (const audit of new Set(rows.map((row) => idOf(row.compliance_assessment)!))) {
    for (const id of await seen.requirementsOf(audit)) ids.add(id);
  }
  return rows.filter(({ id }) => ids.has(id));
}

/** What people read of a requirement, in lower case. */
function ofRequirement({ requirement }: Row): string {
  const { ref_id, name, description } = requirement as Row;
  return [ref_id, name, description].join("\n").toLowerCase();
}

const LIST_TOOLS: readonly List[] = [
  {
    tool: "list_controls",
    rows: "controls",
    path: LISTS.control,
    ordering: "-created_at,id",
    questions: [
      {},
      { args: () => ({ order_by: "name" }), query: () => ({ ordering: "name,id" }) },
      { args: () => ({ order_by: "eta" }), query: () => ({ ordering: "eta,id" }), lastWithout: "eta" },
      { args: () => ({ order_by: "priority" }), query: () => ({ ordering: "priority,id" }), lastWithout: "priority" },
      { args: () => ({ order_by: "last_changed" }), query: () => ({ ordering: "-updated_at,id" }) },
      { args: () => ({ statuses: ["to_do", "active"] }), query: () => ({ status: ["to_do", "active"] }) },
      { args: () => ({ category: "technical", priority: 2 }), query: () => ({ category: "technical", priority: 2 }) },
      {
        args: ({ world }) => ({ query: `same ${world.run}` }),
        query: ({ world }) => ({ search: `same ${world.run}` }),
      },
    ],
    row(row, direct) {
      expect(row.name).toBe(direct.name);
      expect(row.progress).toBe(direct.progress_field);
      expect(row.status).toBe(direct.status === "--" ? undefined : direct.status);
      expect(row.eta ?? null).toBe(direct.eta);
      expect(row.priority === undefined ? null : `P${row.priority}`).toBe(direct.priority);
    },
    another: async (stage, i) => {
      const { ids, run } = stage.world;
      const name = `same ${run} another ${i} ${Date.now()}`;
      const body = { name, folder: ids.alpha, status: "to_do", category: "technical", priority: 2, eta: "2027-03-31" };
      return (await need(stage, "POST", LISTS.control, body)).id;
    },
  },
  {
    tool: "list_evidence",
    rows: "evidence",
    path: LISTS.evidence,
    ordering: "-created_at,id",
    questions: [
      {},
      { args: () => ({ statuses: ["draft"] }), query: () => ({ status: "draft" }) },
      { args: ({ world }) => ({ query: world.run }), query: ({ world }) => ({ search: world.run }) },
    ],
    row(row, direct) {
      expect(row.name).toBe(direct.name);
      expect(row.status).toBe(String(direct.status).toLowerCase().replace(" ", "_"));
      const seen = (direct.applied_controls as Row[]).filter(({ id }) => id !== undefined).length;
      expect(row.control_count ?? 0).toBe(seen);
    },
    another: async (stage, i) => {
      const body = { name: `proof ${stage.world.run} another ${i} ${Date.now()}`, folder: stage.world.ids.alpha };
      return (await need(stage, "POST", LISTS.evidence, body)).id;
    },
  },
  {
    tool: "list_requirement_assessments",
    rows: "requirement_assessments",
    path: LISTS.requirement,
    ordering: "created_at,id",
    questions: [
      { query: () => ({ requirement__assessable: true }) },
      {
        args: () => ({ results: ["partially_compliant"] }),
        query: () => ({ requirement__assessable: true, result: "partially_compliant" }),
      },
      {
        args: () => ({ query: "data", with_headings: true }),
        only: (row) => ofRequirement(row).includes("data"),
      },
      // A word of every URN of the platform's libraries.
      {
        args: () => ({ query: "Risk" }),
        query: () => ({ requirement__assessable: true }),
        only: (row) => ofRequirement(row).includes("risk"),
      },
    ],
    expected: inScope,
    row(row, direct) {
      expect(row.result).toBe(direct.result);
      expect(row.assessable).toBe(direct.assessable);
      expect(row.control_count ?? 0).toBe((direct.applied_controls as Row[]).filter(({ id }) => id).length);
      expect(row.score ?? null).toBe(direct.is_scored === true ? (direct.score ?? null) : null);
    },
    another: async (stage, i) => {
      const { ids, run } = stage.world;
      const body = {
        name: `another audit ${i} ${run} ${Date.now()}`,
        framework: ids.grouped,
        folder: ids.east,
        version: "1.0",
      };
      const more = { selected_implementation_groups: [GROUP], status: "in_progress" };
      return (await need(stage, "POST", LISTS.audit, { ...body, ...more })).id;
    },
  },
  {
    tool: "list_risk_scenarios",
    rows: "risk_scenarios",
    path: LISTS.risk,
    ordering: "-created_at,id",
    questions: [
      {},
      { args: () => ({ treatments: ["mitigate", "accept"] }), query: () => ({ treatment: ["mitigate", "accept"] }) },
      { args: ({ world }) => ({ query: world.run }), query: ({ world }) => ({ search: world.run }) },
    ],
    row(row, direct) {
      expect(row.name).toBe(direct.name);
      expect(row.treatment).toBe(direct.treatment);
      const { value, name } = direct.current_level as { value: number; name: string };
      const level = (row.current as { level?: { value: number; name: string } } | undefined)?.level;
      expect(level).toEqual(value < 0 ? undefined : { value, name });
    },
    another: async (stage, i) => {
      const { ids, run } = stage.world;
      const body = {
        name: `another risk ${i} ${run} ${Date.now()}`,
        risk_assessment: ids.without,
        treatment: "mitigate",
      };
      return (await need(stage, "POST", LISTS.risk, body)).id;
    },
  },
  {
    tool: "list_attack_outcomes",
    rows: "attack_outcomes",
    path: LISTS.attack,
    ordering: "-created_at,id",
    questions: [{}],
    row(row, direct) {
      // A path that is hidden has no name here, though the platform tells it beside.
      expect(row.name).toBe(idOf(direct.attack_path) === undefined ? HIDDEN_PATH : direct.str);
      expect(row.selected).toBe(direct.is_selected);
    },
    another: async (stage, i) => {
      const { ids, run } = stage.world;
      const study = { ebios_rm_study: ids.studyA, folder: ids.alpha };
      const path = {
        ...study,
        name: `path another ${i} ${run} ${Date.now()}`,
        strategic_scenario: ids.studyAStrategic,
      };
      const { id } = await need(stage, "POST", "/api/ebios-rm/attack-paths/", { ...path, is_selected: true });
      const mode = { operating_modes_description: "Another", likelihood: 1, is_selected: true };
      return (await need(stage, "POST", LISTS.attack, { ...study, ...mode, attack_path: id })).id;
    },
  },
];

async function ask(stage: Stage, list: List, person: string, question: Question, pageSize: number) {
  const { args, query, only, lastWithout } = question;
  const tenant = await tenantOf(stage, person);
  const seen = seenBy(stage, person);
  const asked = { ordering: list.ordering, ...query?.(stage) };
  const all = await seen.of(tenant, list.path, asked);
  const has = (row: Row): boolean => lastWithout === undefined || row[lastWithout] != null;
  const listed = [...all.filter(has), ...all.filter((row) => !has(row))];
  const expected = (await (list.expected?.(listed, seen, tenant) ?? listed)).filter(
    (row) => only?.(row, stage) ?? true,
  );
  const told = { tenant_id: tenant.id, ...args?.(stage) };
  return { expected, reading: { tool: list.tool, rows: list.rows, args: told, pageSize } };
}

const offered = async (stage: Stage, tool: string, person: string) =>
  (await personOf(stage, person).tools()).includes(tool);

/** Tools that list a tenant's objects. */
export const listTruths: readonly Truth<Stage>[] = LIST_TOOLS.map(truthOfList);

/** What is true of a tool that lists a tenant's objects. */
export function truthOfList(list: List): Truth<Stage> {
  return {
    tool: list.tool,
    cases: [
      ...list.questions.map((question, i) => ({
        about: `has what the platform lists of the tenant, in one order over all pages (question ${i + 1})`,
        as: WORKERS,
        async prove(stage: Stage, person: string) {
          const size = list.tool === "list_requirement_assessments" ? 7 : 3;
          const { expected, reading } = await ask(stage, list, person, question, size);
          if (!(await offered(stage, list.tool, person))) return expect(expected).toEqual([]);
          const { about } = question;
          if (about !== undefined && !(await seenBy(stage, person).read(about.path, stage.world.ids[about.key]!))) {
            return refuses(stage, person, list.tool, reading.args, new RegExp(`^${about.argument}: `));
          }
          const { rows } = await readWhole(stage, person, reading);
          sameIds(rows, expected);
          for (const [at, row] of rows.entries()) list.row?.(row, expected[at]!);
        },
      })),
      {
        about: "loses and repeats nothing while others write",
        as: ["administrator", "analyst"],
        async prove(stage: Stage, person: string) {
          const isLong = list.tool === "list_requirement_assessments";
          const size = isLong ? 25 : 4;
          for (const question of list.questions.slice(0, isLong ? 1 : 4)) {
            const { expected, reading } = await ask(stage, list, person, question, size);
            const between = async (page: number) => {
              if (page < 2) await list.another(stage, page);
            };
            const { rows, repeated } = await everyPage(personOf(stage, person), { ...reading, between });
            expect(repeated).toEqual([]);
            const known = new Set(expected.map(({ id }) => id));
            sameIds(
              rows.filter(({ id }) => known.has(id)),
              expected,
            );
          }
        },
      },
      {
        about: "loses nothing while others delete",
        as: ["analyst"],
        async prove(stage: Stage, person: string) {
          if (list.tool === "list_requirement_assessments") return;
          for (const question of list.questions) {
            const gone = [await list.another(stage, 7), await list.another(stage, 8), await list.another(stage, 9)];
            const { expected, reading } = await ask(stage, list, person, question, 2);
            const between = async (page: number) => {
              const id = gone[page];
              if (id !== undefined) await need(stage, "DELETE", `${list.path}${id}/`);
            };
            const { rows, repeated } = await everyPage(personOf(stage, person), { ...reading, between });
            expect(repeated).toEqual([]);
            const left = (all: readonly Row[]) => all.filter(({ id }) => !gone.includes(id));
            sameIds(left(rows), left(expected));
          }
        },
      },
      {
        about: "another tenant is no tenant",
        as: ["analyst", "reader", "granted", "respondent", "auditee"],
        prove: (stage: Stage, person: string) =>
          refuses(
            stage,
            person,
            list.tool,
            { tenant_id: stage.world.ids.beta },
            /tenant_id: you have no such tenant|needs the rights? view_/,
          ),
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage: Stage, person: string) => refuses(stage, person, list.tool, {}, NOWHERE),
      },
    ],
  };
}
