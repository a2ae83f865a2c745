import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { LISTS } from "../seen.js";
import type { Stage } from "../stage.js";
import { admin, CANNOT, changedBy, refusedWithoutTrace } from "./writing.js";

/** Tools that write how requirements are met. */
export const requirementWriteTruths: readonly Truth<Stage>[] = [
  {
    tool: "set_control_maturity",
    cases: [
      {
        about: "scores the requirement that the control answers, and nothing else",
        as: ["administrator", "analyst", "both"],
        async prove(stage, person) {
          const { ids } = stage.world;
          await admin(stage, "PATCH", `${LISTS.requirement}${ids.shown0}/`, { score: 1, observation: "" });
          const asked = { control_id: ids.control2, requirement_assessment_id: ids.shown0, score: 3 };
          const args = { tenant_id: ids.alpha, ...asked, justification: `Because ${person}` };
          const { said, changes, after } = await changedBy(stage, person, "set_control_maturity", args);
          expect(said.refusal).toBe("");
          expect(changes).toEqual([`${ids.shown0}.observation`, `${ids.shown0}.score`]);
          expect(after.get(ids.shown0!)).toMatchObject({ score: 3, is_scored: true, observation: `Because ${person}` });
        },
      },
      {
        about: "what lies outside the audit's chosen groups is not scored",
        as: ["administrator", "analyst"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const args = { tenant_id: ids.alpha, control_id: ids.control4, score: 1 };
          // Of the two that it answers only one counts, so that there is nothing to ask back.
          const { said } = await changedBy(stage, person, "set_control_maturity", args);
          expect(said.refusal).toBe("");
          const outside = { ...args, requirement_assessment_id: ids.partOutside };
          await refusedWithoutTrace(stage, person, "set_control_maturity", outside, /implementation groups/);
        },
      },
      {
        about: "what no scale holds, what the control does not answer and what is locked is not scored",
        as: ["analyst"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const asked = { tenant_id: ids.alpha, control_id: ids.control2, requirement_assessment_id: ids.shown0 };
          await refusedWithoutTrace(stage, person, "set_control_maturity", { ...asked, score: 1_000 }, /between/);
          const other = { ...asked, requirement_assessment_id: ids.shown3, score: 1 };
          await refusedWithoutTrace(stage, person, "set_control_maturity", other, /not linked to this requirement/);
          await admin(stage, "PATCH", `${LISTS.audit}${ids.shown}/`, { is_locked: true });
          await refusedWithoutTrace(stage, person, "set_control_maturity", { ...asked, score: 1 }, /locked/);
          const link = { requirement_assessment_id: ids.shown0, control_ids: [ids.control6] };
          await refusedWithoutTrace(stage, person, "set_requirement_controls", link, /locked/);
          await admin(stage, "PATCH", `${LISTS.audit}${ids.shown}/`, { is_locked: false });
        },
      },
      {
        about: "who may not is refused, and nothing changes",
        as: CANNOT,
        prove: (stage, person) =>
          refusedWithoutTrace(stage, person, "set_control_maturity", {
            control_id: stage.world.ids.control0,
            requirement_assessment_id: stage.world.ids.hidden0,
            score: 2,
          }),
      },
      {
        about: "a field that is closed to a respondent is not said to be written",
        as: ["auditee", "respondent"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const [requirement, control] =
            person === "auditee" ? [ids.hidden0, ids.control0] : [ids.supplier0, ids.control0];
          const args = { control_id: control, requirement_assessment_id: requirement, score: 2, justification: "Mine" };
          const { said, changes } = await changedBy(stage, person, "set_control_maturity", args);
          const isScored = changes.some((one) => one.endsWith(".score"));
          expect(said.result !== undefined).toBe(isScored);
          if (!isScored && changes.length > 0) expect(said.refusal).toMatch(/was written/);
          expect(said.refusal).not.toMatch(/answers to the requirement's questions/);
        },
      },
    ],
  },
  {
    tool: "set_requirement_controls",
    cases: [
      {
        about: "sets the controls of one requirement, and nothing else",
        as: ["administrator", "analyst", "both"],
        async prove(stage, person) {
          const { ids } = stage.world;
          await admin(stage, "PATCH", `${LISTS.requirement}${ids.shown2}/`, { applied_controls: [] });
          const args = {
            tenant_id: ids.alpha,
            requirement_assessment_id: ids.shown2!.toUpperCase(),
            control_ids: [ids.control6!.toUpperCase()],
          };
          const { said, changes } = await changedBy(stage, person, "set_requirement_controls", args);
          expect(said.refusal).toBe("");
          expect(changes.filter((one) => one.startsWith(ids.shown2!))).toEqual([`${ids.shown2}.applied_controls`]);
          expect(changes.filter((one) => !one.startsWith(ids.shown2!) && !one.startsWith(ids.control6!))).toEqual([]);
          const told = said.result!.requirement_assessment as { controls: Row[] };
          expect(told.controls.map(({ id }) => id)).toEqual([ids.control6]);
        },
      },
      {
        about: "who may not is refused, and nothing changes",
        as: CANNOT,
        prove: (stage, person) =>
          refusedWithoutTrace(stage, person, "set_requirement_controls", {
            requirement_assessment_id: stage.world.ids.hidden1,
            control_ids: [stage.world.ids.control1],
          }),
      },
      {
        about: "a field that is closed to a respondent is not said to be written",
        as: ["auditee", "respondent"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const audit = person === "auditee" ? ids.hidden : ids.supplierAudit;
          const requirement = person === "auditee" ? ids.hidden2 : ids.supplier0;
          await admin(stage, "PATCH", `${LISTS.audit}${audit}/`, {
            field_visibility: { applied_controls: { auditor: "edit", respondent: "read" } },
          });
          await admin(stage, "PATCH", `${LISTS.requirement}${requirement}/`, { applied_controls: [ids.control1] });
          const args = { requirement_assessment_id: requirement, clear_controls: true };
          const { said, changes } = await changedBy(stage, person, "set_requirement_controls", args);
          const isWritten = changes.some((one) => one === `${requirement}.applied_controls`);
          expect(said.result !== undefined).toBe(isWritten);
          await admin(stage, "PATCH", `${LISTS.audit}${audit}/`, { field_visibility: {} });
        },
      },
      {
        about: "an audit in review, which refuses changes, is named as that",
        as: ["analyst"],
        async prove(stage, person) {
          const { ids } = stage.world;
          await admin(stage, "PATCH", `${LISTS.audit}${ids.hidden}/`, { status: "in_review" });
          const args = { requirement_assessment_id: ids.hidden3, control_ids: [ids.control1] };
          await refusedWithoutTrace(stage, person, "set_requirement_controls", args, /in review/);
          await admin(stage, "PATCH", `${LISTS.audit}${ids.hidden}/`, { status: "in_progress" });
        },
      },
    ],
  },
];
