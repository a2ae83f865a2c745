import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { personOf, type Stage, seenBy } from "../stage.js";
import { WRITERS } from "../world.js";
import { changedBy, fresh, object, others, refused } from "./changed.js";

/** Tools that write reports, notes and what containers hold. */
export const containerWriteTruths: readonly Truth<Stage>[] = [
  {
    tool: "create_report",
    cases: [
      {
        about: "makes a report that holds what was asked, and changes nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const args = {
            name: fresh(stage, "Report"),
            published: "2026-05-05",
            report_types: ["Threat-Report"],
            object_ids: [ids.malware0, ids.set0, ids.inside],
          };
          const { result, refusal, changes, after } = await changedBy(stage, person, "create_report", args);
          expect(refusal).toBe("");
          const made = object(result);
          expect(changes).toEqual([`+${made.id}`]);
          expect(result!.object_count).toBe(3);
          expect((after.get(made.id) as unknown as Row).published).toBe("2026-05-05T00:00:00.000Z");
          expect((after.get(made.id) as unknown as Row).report_types).toEqual(["threat-report"]);
          expect((await seenBy(stage, "root").contents(made.id))!.map(({ id }) => id).sort()).toEqual(
            [...args.object_ids].sort(),
          );
        },
      },
      refused(
        "a report of that name and date is told, however many bear the name",
        "create_report",
        ({ world }) => ({ name: `Report 0 ${world.run}`, published: "2026-03-03" }),
        /already exists/,
      ),
      refused(
        "a hidden object in it is not there",
        "create_report",
        (stage) => ({ name: fresh(stage, "Report"), object_ids: [stage.world.ids.malware4] }),
        /visible/,
        ["analyst", "writer"],
      ),
      refused(
        "an unknown type is refused",
        "create_report",
        (stage) => ({ name: fresh(stage, "Report"), report_types: ["no-such-report"] }),
        /not one of/,
      ),
      others("create_report", (stage) => ({ name: fresh(stage, "Report") })),
    ],
  },
  {
    tool: "add_objects_to_container",
    cases: [
      {
        about: "adds what it did not hold, and says what it held",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const id = await stage.world.make("Grouping", {
            name: fresh(stage, "Group"),
            context: "suspicious-activity",
            objects: [ids.malware0],
            confidence: 0,
          });
          const { result, refusal, changes } = await changedBy(stage, person, "add_objects_to_container", {
            container_id: id,
            object_ids: [ids.malware0, ids.set0],
          });
          expect([refusal, changes]).toEqual(["", []]);
          expect((result!.added as Row[]).map((one) => one.id)).toEqual([ids.set0]);
          expect((result!.already_held as Row[]).map((one) => one.id)).toEqual([ids.malware0]);
          expect(result!.object_count).toBe(2);
          expect((await seenBy(stage, "root").contents(id))!.map((one) => one.id).sort()).toEqual(
            [ids.malware0, ids.set0].sort(),
          );
        },
      },
      refused(
        "nothing is added where one is hidden",
        "add_objects_to_container",
        ({ world }) => ({ container_id: world.ids.report0, object_ids: [world.ids.set3, world.ids.malware4] }),
        /visible/,
        ["analyst", "writer"],
      ),
      others("add_objects_to_container", ({ world }) => ({
        container_id: world.ids.report0,
        object_ids: [world.ids.set3],
      })),
    ],
  },
  {
    tool: "remove_object_from_container",
    cases: [
      {
        about: "takes one out, and says where it was not in",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const id = await stage.world.make("Grouping", {
            name: fresh(stage, "Group"),
            context: "suspicious-activity",
            objects: [ids.malware0, ids.set0],
            confidence: 0,
          });
          const first = await changedBy(stage, person, "remove_object_from_container", {
            container_id: id,
            object_id: ids.set0,
          });
          expect([first.refusal, first.changes]).toEqual(["", []]);
          expect(first.result).toMatchObject({ removed: true, object_count: 1 });
          expect((await seenBy(stage, "root").contents(id))!.map((one) => one.id)).toEqual([ids.malware0]);
          const again = await personOf(stage, person).get("remove_object_from_container", {
            container_id: id,
            object_id: ids.set0,
          });
          expect(again).toMatchObject({ removed: false, object_count: 1 });
        },
      },
      others("remove_object_from_container", ({ world }) => ({
        container_id: world.ids.report0,
        object_id: world.ids.malware0,
      })),
    ],
  },
  {
    tool: "create_note",
    cases: [
      {
        about: "writes one note on what was asked",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const args = {
            object_ids: [ids.malware0, ids.report0],
            content: `Seen ${stage.world.run}`,
            abstract: fresh(stage, "Note"),
          };
          const { result, refusal, changes, after } = await changedBy(stage, person, "create_note", args);
          expect(refusal).toBe("");
          const made = object(result);
          // The platform makes an individual of who writes a first note.
          const others = changes.filter((one) => one !== `+${made.id}`);
          expect(others.length).toBeLessThanOrEqual(1);
          for (const one of others) expect(after.get(one.slice(1))).toMatchObject({ entity_type: "Individual" });
          expect(changes).toContain(`+${made.id}`);
          expect((await seenBy(stage, "root").contents(made.id))!.map((one) => one.id).sort()).toEqual(
            [...args.object_ids].sort(),
          );
          expect((result!.result as { notices?: string[] }).notices ?? []).toEqual([]);
        },
      },
      others("create_note", ({ world }) => ({ object_ids: [world.ids.malware0], content: "no" })),
    ],
  },
];
