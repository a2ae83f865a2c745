import { expect } from "vitest";
import { everyPage } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { personOf, type Stage, tenantOf } from "../stage.js";

/** Bounds of docs/answer-sizes.md, in bytes. */
const MEDIAN = 250;
const MOST = 500;
const PAGE = 10_000;

const LISTS: readonly (readonly [tool: string, rows: string])[] = [
  ["list_tenants", "tenants"],
  ["list_frameworks", "frameworks"],
  ["list_controls", "controls"],
  ["list_evidence", "evidence"],
  ["list_requirement_assessments", "requirement_assessments"],
  ["list_risk_scenarios", "risk_scenarios"],
  ["list_attack_outcomes", "attack_outcomes"],
  ["list_risk_assessments", "risk_assessments"],
  ["list_assessments", "assessments"],
  ["list_primary_assets", "assets"],
  ["list_supporting_assets", "assets"],
  ["list_organizations", "organizations"],
  ["list_risk_quantifications", "risk_quantifications"],
  ["list_quantified_scenarios", "quantified_scenarios"],
  ["get_framework_tree", "requirements"],
];

/** A tenant names its domains, however many it has. */
const WITHOUT: Readonly<Record<string, string>> = { list_tenants: "domains" };

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** How much a model is given to read. */
export const sizeTruths: readonly Truth<Stage>[] = LISTS.map(([tool, rows]) => ({
  tool,
  cases: [
    {
      about: "rows and the first page are no larger than they may be",
      as: ["administrator", "analyst"],
      async prove(stage, person) {
        const { id: tenant_id } = await tenantOf(stage, person);
        const args = {
          ...(tool !== "list_tenants" && { tenant_id }),
          ...(tool === "get_framework_tree" && { framework_id: stage.world.ids.plain! }),
        };
        const first = await personOf(stage, person).get(tool, args);
        expect(bytes(first)).toBeLessThan(PAGE);
        const all = await everyPage(personOf(stage, person), { tool, rows, args, pageSize: 100 });
        const sizes = all.rows.map((row) => bytes({ ...row, [WITHOUT[tool] ?? ""]: undefined })).sort((a, b) => a - b);
        expect(sizes.length).toBeGreaterThan(0);
        expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(MEDIAN);
        expect(sizes[Math.floor(sizes.length * 0.95)]).toBeLessThanOrEqual(MOST);
      },
    },
  ],
}));
