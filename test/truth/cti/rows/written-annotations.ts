import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import { labelsOf, markingsOf } from "../seen.js";
import type { Stage } from "../stage.js";
import { WRITERS } from "../world.js";
import { changedBy, fresh, others, refused, refusedWithoutTrace, target } from "./changed.js";

/** Tools that write labels and markings. */
export const annotationWriteTruths: readonly Truth<Stage>[] = [
  {
    tool: "add_labels",
    cases: [
      {
        about: "adds a label that exists, in any case",
        as: WRITERS,
        async prove(stage, person) {
          const id = await target(stage);
          const { refusal, changes, after } = await changedBy(stage, person, "add_labels", {
            object_id: id,
            labels: [` Label ${stage.world.run}`],
          });
          expect([refusal, changes]).toEqual(["", [`${id}.objectLabel`]]);
          expect(labelsOf(after.get(id) as never)).toEqual([`label ${stage.world.run}`]);
        },
      },
      {
        about: "makes a label where one may, and else adds nothing",
        as: WRITERS,
        async prove(stage, person) {
          const id = await target(stage);
          const args = { object_id: id, labels: [fresh(stage, `new ${person}`)] };
          if (person === "writer")
            return refusedWithoutTrace(stage, person, "add_labels", args, /may not create labels/);
          const { refusal, after } = await changedBy(stage, person, "add_labels", args);
          expect(refusal).toBe("");
          expect(labelsOf(after.get(id) as never)).toEqual([args.labels[0]!.toLowerCase()]);
        },
      },
      others("add_labels", ({ world }) => ({ object_id: world.ids.malware1, labels: [`label ${world.run}`] })),
    ],
  },
  {
    tool: "remove_labels",
    cases: [
      {
        about: "takes a label off, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await target(stage, { objectLabel: [stage.world.ids.label] });
          const { refusal, changes } = await changedBy(stage, person, "remove_labels", {
            object_id: id,
            labels: [`label ${stage.world.run}`, "nothing"],
          });
          expect([refusal, changes]).toEqual(["", [`${id}.objectLabel`]]);
        },
      },
      others("remove_labels", ({ world }) => ({ object_id: world.ids.malware0, labels: [`label ${world.run}`] })),
    ],
  },
  {
    tool: "add_markings",
    cases: [
      {
        about: "a higher marking replaces the lower, a lower one changes nothing and is told",
        as: WRITERS,
        async prove(stage, person) {
          const id = await target(stage, stage.world.marked("TLP:CLEAR"));
          const up = await changedBy(stage, person, "add_markings", { object_id: id, markings: ["tlp:green"] });
          expect([up.refusal, up.changes]).toEqual(["", [`${id}.objectMarking`]]);
          expect(markingsOf(up.after.get(id) as never)).toEqual(["TLP:GREEN"]);
          const down = await changedBy(stage, person, "add_markings", { object_id: id, markings: ["TLP:CLEAR"] });
          expect([down.refusal, down.changes]).toEqual(["", []]);
          expect(JSON.stringify(down.result)).toContain("was not added");
        },
      },
      refused(
        "a marking above one's clearance is refused",
        "add_markings",
        ({ world }) => ({ object_id: world.ids.malware0, markings: ["TLP:RED"] }),
        /not cleared|does not exist/,
        ["analyst", "writer"],
      ),
      others("add_markings", ({ world }) => ({ object_id: world.ids.malware0, markings: ["TLP:GREEN"] })),
    ],
  },
];
