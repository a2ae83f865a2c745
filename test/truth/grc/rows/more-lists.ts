import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { idOf, LISTS } from "../seen.js";
import { holdsNothingHidden, personOf, type Stage, seenBy, tenantOf } from "../stage.js";
import { type List, truthOfList } from "./lists.js";
import { text } from "./objects.js";
import { admin } from "./writing.js";

const named = (stage: Stage, what: string, i: number) => `${what} another ${i} ${stage.world.run} ${Date.now()}`;

/** Makes one more in the first tenant. */
const made = (path: string, what: string, more: (stage: Stage) => object) => async (stage: Stage, i: number) =>
  (await admin(stage, "POST", path, { name: named(stage, what, i), folder: stage.world.ids.alpha, ...more(stage) }))
    .id as string;

/** Whether each of some words is in what people read of an object. */
const holds = ({ name, description, ref_id }: Row, words: readonly string[]) => {
  const told = [name, description, ref_id].map((one) => String(one ?? "").toLowerCase());
  return words.every((word) => told.some((one) => one.includes(word)));
};

const asset = (tool: string, type: string): List => ({
  tool,
  rows: "assets",
  path: LISTS.asset,
  ordering: "-created_at,id",
  questions: [
    { query: () => ({ type }) },
    { args: ({ world }) => ({ query: world.run }), query: ({ world }) => ({ type, search: world.run }) },
    // The name of a domain, where the platform looks as well.
    {
      args: ({ world }) => ({ query: `shop ${world.run}` }),
      query: () => ({ type }),
      only: (row, { world }) => holds(row, ["shop", world.run]),
    },
  ],
  row(row, direct) {
    expect(row.name).toBe(direct.name);
    expect(row.ref_id).toBe(text(direct.ref_id));
    const parents = direct.parent_assets as Row[];
    const seen = parents.flatMap(({ id }) => id ?? []);
    expect(((row.parents ?? []) as Row[]).map(({ id }) => id).sort()).toEqual(seen.sort());
    expect(row.hidden_links ?? 0).toBe(parents.length - seen.length);
  },
  another: made(LISTS.asset, `asset ${type}`, () => ({ type })),
});

const MORE: readonly List[] = [
  asset("list_primary_assets", "PR"),
  asset("list_supporting_assets", "SP"),
  {
    tool: "list_assessments",
    rows: "assessments",
    path: LISTS.audit,
    ordering: "-created_at,id",
    questions: [
      {},
      { args: () => ({ status: "in_progress" }), query: () => ({ status: "in_progress" }) },
      {
        about: { path: LISTS.framework, key: "plain", argument: "framework_id" },
        args: ({ world }) => ({ framework_id: world.ids.plain }),
        query: ({ world }) => ({ framework: world.ids.plain! }),
      },
    ],
    row(row, direct) {
      expect(row.name).toBe(direct.name);
      expect(row.status).toBe(text(direct.status));
      expect(row.progress).toBe(direct.progress);
      expect(row.locked ?? false).toBe(direct.is_locked);
      expect((row.framework as Row | undefined)?.id).toBe(idOf(direct.framework));
    },
    another: made(LISTS.audit, "audit", ({ world }) => ({ framework: world.ids.grouped, version: "1.0" })),
  },
  {
    tool: "list_risk_assessments",
    rows: "risk_assessments",
    path: LISTS.riskAssessment,
    ordering: "-created_at,id",
    questions: [{}, { args: ({ world }) => ({ query: world.run }), query: ({ world }) => ({ search: world.run }) }],
    row(row, direct) {
      expect(row.name).toBe(direct.name);
      expect(row.status).toBe(text(direct.status));
      expect((row.domain as Row | undefined)?.id).toBe(idOf(direct.folder));
      expect(row.scenario_count).toBe(direct.risk_scenarios_count ?? (direct.risk_scenarios as Row[]).length);
    },
    another: made(LISTS.riskAssessment, "risks", ({ world }) => ({ risk_matrix: world.ids.matrix, version: "1.0" })),
  },
  {
    tool: "list_organizations",
    rows: "organizations",
    path: LISTS.entity,
    ordering: "-created_at,id",
    questions: [{}, { args: ({ world }) => ({ query: world.run }), query: ({ world }) => ({ search: world.run }) }],
    row(row, direct) {
      expect(row.name).toBe(direct.name);
      expect(row.active).toBe(direct.is_active);
    },
    another: made(LISTS.entity, "partner", () => ({})),
  },
  {
    tool: "list_risk_quantifications",
    rows: "risk_quantifications",
    path: LISTS.loss,
    ordering: "-created_at,id",
    questions: [{}, { args: ({ world }) => ({ query: world.run }), query: ({ world }) => ({ search: world.run }) }],
    row(row, direct) {
      expect(row.name).toBe(direct.name);
      expect(row.status).toBe(text(direct.status));
      expect(row.loss_threshold ?? null).toBe(direct.loss_threshold);
    },
    another: made(LISTS.loss, "losses", () => ({})),
  },
  {
    tool: "list_quantified_scenarios",
    rows: "quantified_scenarios",
    path: LISTS.priced,
    ordering: "-created_at,id",
    questions: [{}],
    row(row, direct) {
      expect(row.name).toBe(direct.name);
      expect(row.current_annual_loss ?? null).toBe(direct.current_ale === null ? null : Number(direct.current_ale));
      expect(row.selected).toBe(direct.is_selected);
      const seen = (direct.assets as Row[]).flatMap(({ id }) => id ?? []);
      expect(((row.assets ?? []) as Row[]).map(({ id }) => id).sort()).toEqual(seen.sort());
      expect(row.hidden_links ?? 0).toBe((direct.assets as Row[]).length - seen.length);
    },
    another: made(LISTS.priced, "priced", ({ world }) => ({ quantitative_risk_study: world.ids.loss })),
  },
];

/** More tools that list a tenant's objects. */
export const moreListTruths: readonly Truth<Stage>[] = [
  ...MORE.map(truthOfList),
  {
    tool: "list_quantified_scenarios",
    cases: [
      {
        about: "names the study of all and each asset once, as the platform names them to the same person",
        as: ["administrator", "analyst", "reader", "both", "overseer"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const seen = seenBy(stage, person);
          const { id: tenant_id } = await tenantOf(stage, person);
          const page = await personOf(stage, person).get<{
            quantified_scenarios: Row[];
            quantification?: Row;
            assets?: Row[];
          }>("list_quantified_scenarios", { tenant_id });
          const { name } = (await seen.read(LISTS.loss, ids.loss!))!;
          expect(page.quantification).toEqual({ id: ids.loss, name });
          expect(page.quantified_scenarios.some((one) => one.quantification !== undefined)).toBe(false);
          const hit = new Set(
            page.quantified_scenarios.flatMap((one) => ((one.assets ?? []) as Row[]).map(({ id }) => id)),
          );
          expect((page.assets ?? []).map(({ id }) => id)).toEqual([...hit]);
          for (const one of page.assets ?? []) expect(one.name).toBe((await seen.read(LISTS.asset, one.id))?.name);
          await holdsNothingHidden(stage, person, JSON.stringify(page));
        },
      },
    ],
  },
];
