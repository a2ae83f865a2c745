import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { personOf, type Stage } from "../stage.js";
import { STRANGERS } from "./tenants.js";
import { admin, CANNOT, changedBy, freshControl, refusedWithoutTrace } from "./writing.js";

/** Tools that write controls. */
export const controlWriteTruths: readonly Truth<Stage>[] = [
  {
    tool: "create_control",
    cases: [
      {
        about: "makes one control as it was asked for, and changes nothing else",
        as: ["administrator", "analyst", "both", "auditee"],
        async prove(stage, person) {
          const { ids, run } = stage.world;
          const asked = { tenant_id: ids.alpha, domain_id: ids.east, name: `Made by ${person} ${run}` };
          const more = { status: "on_hold", category: "policy", priority: 2, effort: "large", impact: 4 };
          const { said, changes, after } = await changedBy(stage, person, "create_control", {
            ...asked,
            ...more,
            evidence_ids: [ids.evidence1],
            eta: "2027-05-01",
          });
          expect(said.refusal).toBe("");
          const told = said.result!.control as Row;
          const of = (id: string) => changes.filter((one) => one.includes(id));
          expect(changes.filter((one) => !one.includes(ids.evidence1!))).toEqual([`+${told.id}`]);
          expect(of(ids.evidence1!)).toEqual([`${ids.evidence1}.applied_controls`]);
          expect(after.get(told.id)).toMatchObject({
            name: asked.name,
            status: "on_hold",
            priority: "P2",
            eta: "2027-05-01",
            folder: { id: ids.east },
          });
          expect(told).toMatchObject({ name: asked.name, ...more, eta: "2027-05-01", domain: { id: ids.east } });
        },
      },
      {
        about: "takes every field there is, and says it back",
        as: ["analyst"],
        async prove(stage, person) {
          const { ids, run } = stage.world;
          const fields = {
            name: `Whole ${run}`,
            ref_id: `R-${run}`,
            description: "All of it",
            status: "in_progress",
            category: "physical",
            csf_function: "recover",
            priority: 4,
            effort: "extra_small",
            impact: 1,
            eta: "2027-06-30",
            link: "https://control.example/whole",
          };
          const [reference] = await stage.platform.list(stage.world.emails[person]!, "/api/reference-controls/");
          const args = {
            tenant_id: ids.alpha,
            ...fields,
            owner_actor_ids: [ids.analystActor],
            reference_control_id: reference!.id,
          };
          const { said, changes, after } = await changedBy(stage, person, "create_control", args);
          expect(said.refusal).toBe("");
          const told = said.result!.control as Row;
          expect(changes).toEqual([`+${told.id}`]);
          expect(told).toMatchObject({ ...fields, owners: [{ id: ids.analystActor }], domain: { id: ids.alpha } });
          expect(after.get(told.id)).toMatchObject({
            ref_id: fields.ref_id,
            csf_function: "Recover",
            category: "Physical",
            priority: "P4",
            effort: "Extra Small",
            control_impact: "Very Low",
            link: fields.link,
            owner: [{ id: ids.analystActor }],
            reference_control: { id: reference!.id },
          });
          expect((told.reference_control as Row).id).toBe(reference!.id);
        },
      },
      {
        about: "a domain that was just made is known",
        as: ["administrator"],
        async prove(stage, person) {
          const { ids, run } = stage.world;
          await personOf(stage, person).get("list_controls", { tenant_id: ids.alpha });
          const { id } = await admin(stage, "POST", "/api/folders/", { name: `New ${run}`, parent_folder: ids.alpha });
          const args = { tenant_id: ids.alpha, domain_id: id, name: `In the new domain ${run}` };
          const { control } = await personOf(stage, person).get<{ control: Row }>("create_control", args);
          expect((control.domain as Row).id).toBe(id);
          await admin(stage, "DELETE", `/api/folders/${id}/`);
        },
      },
      {
        about: "who may not is refused, and nothing is made",
        as: [...CANNOT, "respondent"],
        prove: (stage, person) =>
          refusedWithoutTrace(stage, person, "create_control", {
            ...(!STRANGERS.some((one) => one === person) && { tenant_id: stage.world.ids.alpha }),
            name: `Not made ${stage.world.run}`,
          }),
      },
      {
        about: "what another tenant owns is not linked",
        as: ["analyst", "both", "administrator"],
        prove: (stage, person) =>
          refusedWithoutTrace(
            stage,
            person,
            "create_control",
            {
              tenant_id: stage.world.ids.alpha,
              name: `Not made ${stage.world.run}`,
              evidence_ids: [stage.world.ids.evidence3],
            },
            /evidence_ids: .*you may see/,
          ),
      },
    ],
  },
  {
    tool: "update_control",
    cases: [
      {
        about: "changes what was asked and nothing else",
        as: ["administrator", "analyst", "both", "auditee"],
        async prove(stage, person) {
          const id = await freshControl(stage, {
            description: "stays",
            ref_id: `W-${Math.random()}`,
            eta: "2027-01-01",
          });
          const args = {
            tenant_id: stage.world.ids.alpha,
            control_id: id.toUpperCase(),
            status: "in_progress",
            eta: "",
          };
          const { said, changes, after } = await changedBy(stage, person, "update_control", args);
          expect(said.refusal).toBe("");
          expect(changes).toEqual([`${id}.eta`, `${id}.status`]);
          expect(after.get(id)).toMatchObject({ status: "in_progress", eta: null, description: "stays" });
          const told = said.result!.control as Row;
          expect(told).toMatchObject({ id, status: "in_progress", description: "stays" });
          expect(told.eta).toBeUndefined();
        },
      },
      {
        about: "who may not is refused, and nothing changes",
        as: [...CANNOT, "respondent"],
        prove: (stage, person) =>
          refusedWithoutTrace(stage, person, "update_control", { control_id: stage.world.ids.control0, name: "No" }),
      },
      {
        about: "every field is set, and emptied where it may be empty",
        as: ["analyst"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const id = await freshControl(stage);
          const fields = {
            name: `Renamed ${Math.random()}`,
            ref_id: `U-${Math.random()}`,
            description: "New",
            status: "degraded",
            category: "procedure",
            csf_function: "govern",
            priority: 1,
            effort: "extra_large",
            impact: 5,
            progress: 40,
            eta: "2027-08-01",
            link: "https://control.example/set",
            observation: "Seen",
          };
          const asked = { tenant_id: ids.alpha, control_id: id };
          const set = await changedBy(stage, person, "update_control", { ...asked, ...fields });
          expect(set.said.refusal).toBe("");
          expect(set.said.result!.control).toMatchObject({ id, ...fields });
          expect(set.changes.every((one) => one.startsWith(id))).toBe(true);
          expect(set.after.get(id)).toMatchObject({
            priority: "P1",
            effort: "Extra Large",
            progress_field: 40,
            status: "degraded",
          });
          const empty = { ref_id: "", description: "", eta: "", link: "", observation: "" };
          const emptied = await changedBy(stage, person, "update_control", { ...asked, ...empty });
          expect(emptied.said.refusal).toBe("");
          expect(emptied.changes).toEqual(
            Object.keys(empty)
              .map((field) => `${id}.${field}`)
              .sort(),
          );
          const told = emptied.said.result!.control as Row;
          for (const field of Object.keys(empty)) expect(told[field]).toBeUndefined();
        },
      },
      {
        about: "what all tenants share is not changed by one, in words",
        as: ["administrator", "analyst"],
        prove: (stage, person) =>
          refusedWithoutTrace(
            stage,
            person,
            "update_control",
            { tenant_id: stage.world.ids.alpha, control_id: stage.world.ids.rootControl, name: "No" },
            /shared by all tenants/,
          ),
      },
    ],
  },
  {
    tool: "delete_control",
    cases: [
      {
        about: "takes one control away, and nothing else",
        as: ["administrator", "analyst", "both", "auditee"],
        async prove(stage, person) {
          const id = await freshControl(stage);
          const args = { tenant_id: stage.world.ids.alpha, control_id: id.toUpperCase() };
          const { said, changes } = await changedBy(stage, person, "delete_control", args);
          expect(said.refusal).toBe("");
          expect(changes).toEqual([`-${id}`]);
        },
      },
      {
        about: "who may not is refused, and nothing goes",
        as: [...CANNOT, "respondent"],
        prove: (stage, person) =>
          refusedWithoutTrace(stage, person, "delete_control", { control_id: stage.world.ids.control0 }),
      },
    ],
  },
];
