import { expect } from "vitest";
import type { Reading, Row } from "../../frame/pages.js";
import { sameIds, type Truth } from "../../frame/table.js";
import type { Query } from "../platform.js";
import { idOf, LISTS } from "../seen.js";
import { personOf, readWhole, refuses, type Stage, seenBy, tenantOf } from "../stage.js";

/** Who sees much of the first tenant. */
const READERS = ["administrator", "analyst", "reader", "both"] as const;

/** One argument of a list that the other rows leave out. */
interface Narrowing {
  readonly tool: string;
  readonly rows: string;
  readonly about: string;
  readonly args: (ids: Readonly<Record<string, string>>) => object;
  readonly path: string;
  /** What the platform is asked, or what of its rows is meant. */
  readonly query?: (ids: Readonly<Record<string, string>>) => Query;
  readonly only?: (row: Row, ids: Readonly<Record<string, string>>) => boolean;
  readonly ordering: string;
}

const links = (row: Row, field: string) => ((row[field] ?? []) as Row[]).map((one) => idOf(one));

const NARROWINGS: readonly Narrowing[] = [
  {
    tool: "list_controls",
    rows: "controls",
    about: "of one domain: what lies in it, and not in those inside it",
    args: ({ alpha }) => ({ domain_id: alpha!.toUpperCase() }),
    path: LISTS.control,
    only: (row, { alpha }) => idOf(row.folder) === alpha,
    ordering: "-created_at,id",
  },
  {
    tool: "list_controls",
    rows: "controls",
    about: "of one function of the Cybersecurity Framework",
    args: () => ({ csf_function: "protect", order_by: "newest" }),
    path: LISTS.control,
    query: () => ({ csf_function: "protect" }),
    ordering: "-created_at,id",
  },
  {
    tool: "list_evidence",
    rows: "evidence",
    about: "of a control: what proves it",
    args: ({ control0 }) => ({ control_id: control0!.toUpperCase() }),
    path: LISTS.evidence,
    only: (row, { control0 }) => links(row, "applied_controls").includes(control0),
    ordering: "-created_at,id",
  },
  {
    tool: "list_evidence",
    rows: "evidence",
    about: "of a control that all tenants share",
    args: ({ rootControl }) => ({ control_id: rootControl }),
    path: LISTS.evidence,
    only: (row, { rootControl }) => links(row, "applied_controls").includes(rootControl),
    ordering: "-created_at,id",
  },
  {
    tool: "list_risk_scenarios",
    rows: "risk_scenarios",
    about: "of a level now",
    args: () => ({ current_levels: [2, 3] }),
    path: LISTS.risk,
    only: (row) => [2, 3].includes((row.current_level as { value: number }).value),
    ordering: "-created_at,id",
  },
  {
    tool: "list_attack_outcomes",
    rows: "attack_outcomes",
    about: "of one study",
    args: ({ studyB }) => ({ study_id: studyB!.toUpperCase() }),
    path: LISTS.attack,
    only: (row, { studyB }) => idOf(row.ebios_rm_study) === studyB,
    ordering: "-created_at,id",
  },
  {
    tool: "list_requirement_assessments",
    rows: "requirement_assessments",
    about: "of a control: what it answers, less what its audit does not cover",
    args: ({ control4 }) => ({ control_id: control4!.toUpperCase() }),
    path: LISTS.requirement,
    query: ({ control4 }) => ({ applied_controls: control4! }),
    only: (row, { partOutside }) => row.id !== partOutside,
    ordering: "created_at,id",
  },
  {
    tool: "list_requirement_assessments",
    rows: "requirement_assessments",
    about: "of a control in one audit",
    args: ({ control0, hidden }) => ({ control_id: control0, assessment_id: hidden!.toUpperCase() }),
    path: LISTS.requirement,
    query: ({ control0, hidden }) => ({ applied_controls: control0!, compliance_assessment: hidden! }),
    ordering: "created_at,id",
  },
];

const narrowed: readonly Truth<Stage>[] = NARROWINGS.map(
  ({ tool, rows, about, args, path, query, only, ordering }) => ({
    tool,
    cases: [
      {
        about,
        as: READERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const tenant = await tenantOf(stage, person);
          const listed = await seenBy(stage, person).of(tenant, path, { ordering, ...query?.(ids) });
          const reading: Reading = { tool, rows, args: { tenant_id: tenant.id, ...args(ids) }, pageSize: 2 };
          const told = await readWhole(stage, person, reading);
          sameIds(
            told.rows,
            listed.filter((row) => only?.(row, ids) ?? true),
          );
        },
      },
    ],
  }),
);

/** Objects of another tenant that arguments of a list may name. */
const FOREIGN: readonly (readonly [tool: string, argument: string, key: string])[] = [
  ["list_controls", "domain_id", "beta"],
  ["list_evidence", "control_id", "control3"],
  ["list_risk_scenarios", "control_id", "control3"],
  ["list_risk_scenarios", "risk_assessment_id", "foreign"],
  ["list_attack_outcomes", "study_id", "studyC"],
  ["list_requirement_assessments", "assessment_id", "other"],
  ["list_requirement_assessments", "control_id", "control3"],
];

const foreign: readonly Truth<Stage>[] = FOREIGN.map(([tool, argument, key]) => ({
  tool,
  cases: [
    {
      about: `what another tenant owns is not there as ${argument}`,
      // One who sees both tenants as well: a call is of one.
      as: ["administrator", "analyst", "both", "granted"],
      async prove(stage, person) {
        const { id: tenant_id } = await tenantOf(stage, person);
        const args = { tenant_id, [argument]: stage.world.ids[key]! };
        await refuses(stage, person, tool, args, /that you may see/);
      },
    },
  ],
}));

/** The other arguments of lists, and what is told with them. */
export const argumentTruths: readonly Truth<Stage>[] = [
  ...narrowed,
  ...foreign,
  {
    tool: "list_controls",
    cases: [
      {
        about: "with maturity: the same of each as get_control tells",
        as: ["administrator", "analyst", "reader", "granted"],
        async prove(stage, person) {
          const { id: tenant_id } = await tenantOf(stage, person);
          const args = { tenant_id, with_maturity: true, page_size: 20 };
          const { controls } = await personOf(stage, person).get<{ controls: Row[] }>("list_controls", args);
          for (const row of controls) {
            const of = { tenant_id, control_id: row.id };
            const { control } = await personOf(stage, person).get<{ control: Row }>("get_control", of);
            expect(row.maturity).toEqual(control.maturity);
          }
        },
      },
    ],
  },
  {
    tool: "list_frameworks",
    cases: [
      {
        about: "by words and by provider",
        as: READERS,
        async prove(stage, person) {
          const email = stage.world.emails[person]!;
          const { id: tenant_id } = await tenantOf(stage, person);
          const all = await stage.platform.list(email, LISTS.framework, { ordering: "name,id" });
          const provider = String(all[0]!.provider);
          for (const asked of [{ search: "SAIF" }, { provider }, { search: "no such framework" }]) {
            const expected = await stage.platform.list(email, LISTS.framework, { ordering: "name,id", ...asked });
            const { search, ...more } = asked as { search?: string };
            const args = { tenant_id, ...more, ...(search !== undefined && { query: search }) };
            const { rows } = await readWhole(stage, person, { tool: "list_frameworks", rows: "frameworks", args });
            sameIds(rows, expected);
          }
        },
      },
    ],
  },
  {
    tool: "get_framework_tree",
    cases: [
      {
        about: "under one requirement: it and what stands under it",
        as: READERS,
        async prove(stage, person) {
          const { id: tenant_id } = await tenantOf(stage, person);
          const args = { tenant_id, framework_id: stage.world.ids.numbered! };
          const reading = { tool: "get_framework_tree", rows: "requirements", args, pageSize: 100 };
          const { rows } = await readWhole(stage, person, reading);
          const named = rows.filter((row) => row.ref_id !== undefined);
          const top = named.find((row) => rows.some(({ parent }) => idOf(parent) === row.id)) ?? named[0]!;
          const under = new Set([top.id]);
          for (const row of rows) if (under.has(idOf(row.parent) ?? "")) under.add(row.id);
          const part = { ...reading, args: { ...args, under_ref_id: String(top.ref_id).toLowerCase() }, pageSize: 3 };
          sameIds(
            (await readWhole(stage, person, part)).rows,
            rows.filter(({ id }) => under.has(id)),
          );
        },
      },
    ],
  },
  {
    tool: "list_tenants",
    cases: [
      {
        about: "by a part of the name, in any case",
        as: READERS,
        async prove(stage, person) {
          const query = `ALPHA ${stage.world.run}`;
          const tenants = await seenBy(stage, person).tenants();
          const { rows } = await readWhole(stage, person, { tool: "list_tenants", rows: "tenants", args: { query } });
          sameIds(
            rows,
            tenants.filter(({ name }) => name.toLowerCase().includes(query.toLowerCase())),
          );
        },
      },
    ],
  },
];
