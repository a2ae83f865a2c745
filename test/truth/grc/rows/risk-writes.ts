import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { LISTS } from "../seen.js";
import { personOf, type Stage } from "../stage.js";
import { admin, cannot, changedBy, freshControl, freshEvidence, refusedWithoutTrace } from "./writing.js";

const WRITERS = ["administrator", "analyst", "both"] as const;

async function freshRisk(stage: Stage, more: object = {}): Promise<string> {
  const name = `Risk to write ${stage.world.run} ${Math.random()}`;
  return (await admin(stage, "POST", LISTS.risk, { name, risk_assessment: stage.world.ids.without, ...more })).id;
}

/** Tools that write risks, how requirements are met, and what proves it. */
export const riskWriteTruths: readonly Truth<Stage>[] = [
  {
    tool: "create_risk_scenario",
    cases: [
      {
        about: "creates one where its assessment lies, as it was said",
        as: WRITERS,
        async prove(stage, person) {
          const { ids, run } = stage.world;
          const name = `Made by ${person} ${run}`;
          const rated = { current_probability: 3, current_impact: 4, treatment: "mitigate" };
          const args = { tenant_id: ids.alpha, risk_assessment_id: ids.eastern, name, ...rated };
          const links = { control_ids: [ids.control0], asset_ids: [ids.asset0] };
          const { said, changes, after } = await changedBy(stage, person, "create_risk_scenario", {
            ...args,
            ...links,
          });
          expect(said.refusal).toBe("");
          const made = said.result!.risk_scenario as Row;
          expect(changes.filter((one) => /^[+-]/.test(one))).toEqual([`+${made.id}`]);
          const direct = after.get(made.id) as Row;
          expect(direct).toMatchObject({ name, treatment: "mitigate", folder: { id: ids.east } });
          expect((direct.current_proba as { value: number }).value).toBe(3);
          expect((direct.applied_controls as Row[]).map(({ id }) => id)).toEqual([ids.control0]);
        },
      },
      {
        about: "what lies outside the matrix, and what is another tenant's, is refused without a trace",
        as: ["analyst", "both"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const args = { tenant_id: ids.alpha, risk_assessment_id: ids.without, name: "Outside" };
          const control_ids = [ids.control3];
          await refusedWithoutTrace(stage, person, "create_risk_scenario", { ...args, control_ids }, /control_ids/);
          // One index of a pair that is stored outside the matrix breaks the list for everybody.
          for (const rated of [
            { current_probability: 5 },
            { inherent_impact: 19 },
            { residual_probability: 5, residual_impact: 1 },
          ]) {
            await refusedWithoutTrace(
              stage,
              person,
              "create_risk_scenario",
              { ...args, ...rated },
              /outside its scale/,
            );
          }
          await admin(stage, "PATCH", `${LISTS.riskAssessment}${ids.without}/`, { is_locked: true });
          try {
            await refusedWithoutTrace(stage, person, "create_risk_scenario", args, /risk_assessment_id: .* is locked/);
          } finally {
            await admin(stage, "PATCH", `${LISTS.riskAssessment}${ids.without}/`, { is_locked: false });
          }
          const foreign = { tenant_id: ids.alpha, risk_assessment_id: ids.foreign, name: "Foreign" };
          await refusedWithoutTrace(stage, person, "create_risk_scenario", foreign, /risk_assessment_id/);
        },
      },
      cannot("create_risk_scenario", ({ world }) => ({ risk_assessment_id: world.ids.without, name: "No" })),
    ],
  },
  {
    tool: "update_risk_scenario",
    cases: [
      {
        about: "changes what was said, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const id = await freshRisk(stage, { applied_controls: [ids.control0] });
          const args = {
            tenant_id: ids.alpha,
            risk_scenario_id: id,
            treatment: "accept",
            justification: `By ${person}`,
          };
          const { said, changes } = await changedBy(stage, person, "update_risk_scenario", args);
          expect(said.refusal).toBe("");
          expect(changes).toEqual([`${id}.justification`, `${id}.treatment`]);
          const cleared = { tenant_id: ids.alpha, risk_scenario_id: id, clear_controls: true };
          const next = await changedBy(stage, person, "update_risk_scenario", cleared);
          expect(next.changes.filter((one) => one.startsWith(id))).toEqual([`${id}.applied_controls`]);
          const wide = { tenant_id: ids.alpha, risk_scenario_id: id, current_impact: 19, current_probability: 1 };
          await refusedWithoutTrace(stage, person, "update_risk_scenario", wide, /scale/);
        },
      },
      cannot("update_risk_scenario", ({ world }) => ({ risk_scenario_id: world.ids.risk0, description: "No" })),
    ],
  },
  {
    tool: "delete_risk_scenario",
    cases: [
      {
        about: "deletes one, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await freshRisk(stage);
          const args = { tenant_id: stage.world.ids.alpha, risk_scenario_id: id };
          const { said, changes } = await changedBy(stage, person, "delete_risk_scenario", args);
          expect(said.refusal).toBe("");
          expect(changes).toEqual([`-${id}`]);
        },
      },
      {
        about: "what is in a locked assessment stays",
        as: ["analyst"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const args = { tenant_id: ids.alpha, risk_scenario_id: await freshRisk(stage) };
          await admin(stage, "PATCH", `${LISTS.riskAssessment}${ids.without}/`, { is_locked: true });
          try {
            await refusedWithoutTrace(stage, person, "delete_risk_scenario", args, /is locked/);
          } finally {
            await admin(stage, "PATCH", `${LISTS.riskAssessment}${ids.without}/`, { is_locked: false });
          }
        },
      },
      cannot("delete_risk_scenario", ({ world }) => ({ risk_scenario_id: world.ids.risk0 })),
    ],
  },
  {
    tool: "update_requirement_assessment",
    cases: [
      {
        about: "records what was said of one requirement, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const path = `${LISTS.requirement}${ids.shown3}/`;
          await admin(stage, "PATCH", path, { result: "not_assessed", status: "to_do", observation: "" });
          const said = { result: "compliant", status: "done", observation: `By ${person}` };
          const args = { tenant_id: ids.alpha, requirement_assessment_id: ids.shown3, ...said };
          const { said: answer, changes } = await changedBy(stage, person, "update_requirement_assessment", args);
          expect(answer.refusal).toBe("");
          expect(changes).toEqual(["observation", "result", "status"].map((field) => `${ids.shown3}.${field}`));
          const outside = { tenant_id: ids.alpha, requirement_assessment_id: ids.partOutside, result: "compliant" };
          await refusedWithoutTrace(stage, person, "update_requirement_assessment", outside, /implementation groups/);
        },
      },
      {
        about: "what several say of one requirement at once all lasts",
        as: ["analyst"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const [one, other] = [personOf(stage, person), personOf(stage, "both")];
          const [evidence, control] = [await freshEvidence(stage), await freshControl(stage)];
          const of = { tenant_id: ids.alpha, requirement_assessment_id: ids.shown3 };
          const path = `${LISTS.requirement}${ids.shown3}/`;
          for (let i = 0; i < 4; i++) {
            const none = { result: "not_assessed", observation: "", applied_controls: [], evidences: [] };
            await admin(stage, "PATCH", path, none);
            await Promise.all([
              one.get("update_requirement_assessment", { ...of, result: "compliant" }),
              other.get("set_requirement_controls", { ...of, control_ids: [control] }),
              one.get("update_requirement_assessment", { ...of, observation: `Said ${i}` }),
              other.get("attach_evidence", { ...of, evidence_id: evidence }),
            ]);
            const direct: Row = await admin(stage, "GET", path);
            expect(direct).toMatchObject({ result: "compliant", observation: `Said ${i}` });
            expect((direct.applied_controls as Row[]).map(({ id }) => id)).toEqual([control]);
            expect((direct.evidences as Row[]).map(({ id }) => id)).toEqual([evidence]);
          }
        },
      },
      {
        about: "a field that is closed to a respondent is not said to be written",
        as: ["auditee", "respondent"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const id = person === "auditee" ? ids.hidden0 : ids.supplier0;
          await admin(stage, "PATCH", `${LISTS.requirement}${id}/`, { result: "not_assessed", status: "to_do" });
          const args = { requirement_assessment_id: id, result: "compliant", status: "done" };
          const { said, changes } = await changedBy(stage, person, "update_requirement_assessment", args);
          const written = ["result", "status"].filter((field) => changes.includes(`${id}.${field}`));
          expect(said.result !== undefined).toBe(written.length === 2);
          if (said.result === undefined && written.length === 1)
            expect(said.refusal).toContain(`${written[0]} changed`);
        },
      },
      cannot("update_requirement_assessment", ({ world }) => ({
        requirement_assessment_id: world.ids.hidden1,
        result: "compliant",
      })),
    ],
  },
  {
    tool: "set_requirement_evidence",
    cases: [
      {
        about: "sets the evidence of one requirement, and nothing else of it",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          await admin(stage, "PATCH", `${LISTS.requirement}${ids.shown3}/`, { evidences: [ids.evidence1] });
          const args = { tenant_id: ids.alpha, requirement_assessment_id: ids.shown3, evidence_ids: [ids.evidence2] };
          const { said, after, changes } = await changedBy(stage, person, "set_requirement_evidence", args);
          expect(said.refusal).toBe("");
          expect(((after.get(ids.shown3!) as Row).evidences as Row[]).map(({ id }) => id)).toEqual([ids.evidence2]);
          expect(changes.filter((one) => one.startsWith(ids.shown3!))).toEqual([`${ids.shown3}.evidences`]);
        },
      },
      cannot("set_requirement_evidence", ({ world }) => ({
        requirement_assessment_id: world.ids.hidden1,
        evidence_ids: [world.ids.evidence0],
      })),
    ],
  },
  {
    tool: "attach_evidence",
    cases: [
      {
        about: "adds to what is there, once",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const [first, second] = [await freshEvidence(stage), await freshEvidence(stage)];
          const control = await freshControl(stage, { evidences: [first] });
          await admin(stage, "PATCH", `${LISTS.requirement}${ids.shown3}/`, { evidences: [first] });
          const to = [{ control_id: control }, { requirement_assessment_id: ids.shown3! }];
          for (const target of to) {
            const args = { tenant_id: ids.alpha, evidence_id: second, ...target };
            const { said, after } = await changedBy(stage, person, "attach_evidence", args);
            expect(said.refusal).toBe("");
            const [id] = Object.values(target);
            // A list of controls leaves its evidence out.
            const path = "control_id" in target ? LISTS.control : LISTS.requirement;
            const direct: Row = await admin(stage, "GET", `${path}${id}/`);
            expect((direct.evidences as Row[]).map((one) => one.id).sort()).toEqual([first, second].sort());
            expect(after.has(id!)).toBe(true);
            const again = await personOf(stage, person).get<Row>("attach_evidence", args);
            expect(again).toMatchObject({ evidence_count: 2, already_attached: true });
          }
        },
      },
      cannot("attach_evidence", ({ world }) => ({ evidence_id: world.ids.evidence0, control_id: world.ids.control4 })),
    ],
  },
  {
    tool: "delete_evidence",
    cases: [
      {
        about: "deletes one with its versions, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await freshEvidence(stage, { link: "https://proof.example/gone" });
          const args = { tenant_id: stage.world.ids.alpha, evidence_id: id };
          const { said, changes } = await changedBy(stage, person, "delete_evidence", args);
          expect(said.refusal).toBe("");
          expect(changes).toContain(`-${id}`);
          // Its one version goes with it.
          expect(changes).toHaveLength(2);
        },
      },
      cannot("delete_evidence", ({ world }) => ({ evidence_id: world.ids.evidence0 })),
    ],
  },
];
