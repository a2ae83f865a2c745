import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { idOf, LISTS } from "../seen.js";
import { personOf, type Stage } from "../stage.js";

const ALL_LISTS = [
  "list_controls",
  "list_evidence",
  "list_requirement_assessments",
  "list_risk_scenarios",
  "list_attack_outcomes",
  "list_frameworks",
] as const;

const admin = (stage: Stage, method: string, path: string, body?: object) =>
  stage.platform.need(stage.world.emails.administrator!, method, path, body);

/** What becomes of answers when rights and domains change. */
export const rightTruths: readonly Truth<Stage>[] = ALL_LISTS.map((tool) => ({
  tool,
  cases: [
    {
      about: "goes on after a domain was deleted",
      as: ["analyst", "administrator"],
      async prove(stage: Stage, person: string) {
        const { ids, run } = stage.world;
        const body = { name: `Passing ${run} ${Math.random()}`, parent_folder: ids.alpha };
        const { id } = await admin(stage, "POST", "/api/folders/", body);
        const args = { tenant_id: ids.alpha };
        // It is known from here on.
        await personOf(stage, person).get("list_tenants");
        await personOf(stage, person).get(tool, args);
        await admin(stage, "DELETE", `/api/folders/${id}/`);
        const { refusal } = await personOf(stage, person).ask(tool, args);
        expect(refusal).toBe("");
      },
    },
    {
      about: "who lost the only role is told so, and not that there is nothing",
      as: ["leaver"],
      async prove(stage: Stage) {
        const { run, ids } = stage.world;
        const email = `leaver-${tool.replaceAll("_", "-")}-${run}@truth.test`;
        const groups = await stage.platform.list(stage.world.emails.administrator!, "/api/user-groups/");
        const reader = groups.find((one) => idOf(one.folder) === ids.alpha && /Reader|BI-UG-AUD/.test(`${one.name}`))!;
        const names = { first_name: "leaver", last_name: run };
        const user: Row = await admin(stage, "POST", "/api/users/", { email, ...names });
        await admin(stage, "PATCH", `/api/users/${user.id}/`, { user_groups: [reader.id] });
        const person = await stage.product.person(`leaver ${tool}`, email);
        // A role that was given acts some seconds later.
        for (let i = 0; i < 40 && (await person.ask(tool)).result === undefined; i++) {
          await new Promise((done) => setTimeout(done, 1_000));
        }
        await person.get(tool);
        await admin(stage, "PATCH", `/api/users/${user.id}/`, { user_groups: [] });
        const { refusal } = await person.ask(tool);
        expect(refusal).toMatch(/you have no tenant/);
        await admin(stage, "DELETE", `/api/users/${user.id}/`);
      },
    },
  ],
}));

/** Lists that are narrowed by an object. */
export const narrowedTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_risk_scenarios",
    cases: [
      {
        about: "of a control: those that it is planned against and those that it is in place against",
        as: ["administrator", "analyst", "reader"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const args = { tenant_id: ids.alpha, control_id: ids.control0 };
          const { risk_scenarios } = await personOf(stage, person).get<{ risk_scenarios: Row[] }>(
            "list_risk_scenarios",
            args,
          );
          expect(risk_scenarios.map(({ id }) => id)).toEqual([ids.risk1, ids.risk0]);
        },
      },
      {
        about: "of an assessment without a perimeter",
        as: ["administrator", "analyst", "reader"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const args = { tenant_id: ids.alpha, risk_assessment_id: ids.eastern!.toUpperCase() };
          const { risk_scenarios } = await personOf(stage, person).get<{ risk_scenarios: Row[] }>(
            "list_risk_scenarios",
            args,
          );
          expect(risk_scenarios.map(({ id }) => id)).toEqual([ids.risk10, ids.risk6, ids.risk2]);
        },
      },
    ],
  },
  {
    tool: "list_requirement_assessments",
    cases: [
      {
        about: "of an audit that covers a part of its framework: that part",
        as: ["administrator", "analyst", "reader"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const email = stage.world.emails[person]!;
          for (const audit of [ids.part!, ids.supplierAudit!]) {
            const path = `${LISTS.audit}${audit}/requirements_list/`;
            const direct = await stage.platform.need(email, "GET", path, undefined, { assessable: true });
            const args = { tenant_id: ids.alpha, assessment_id: audit, page_size: 100 };
            const told = await personOf(stage, person).get<{ requirement_assessments?: Row[]; total_size: number }>(
              "list_requirement_assessments",
              args,
            );
            const expected = (direct.requirement_assessments as Row[]).map(({ id }) => id).sort();
            expect((told.requirement_assessments ?? []).map(({ id }) => id).sort()).toEqual(expected);
            expect(told.total_size).toBe(expected.length);
          }
        },
      },
    ],
  },
];
