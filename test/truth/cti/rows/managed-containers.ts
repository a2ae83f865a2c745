import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { labelsOf, markingsOf } from "../seen.js";
import { personOf, type Stage, seenBy } from "../stage.js";
import { WRITERS } from "../world.js";
import { changedBy, fresh, object, others, refused, refusedWithoutTrace } from "./changed.js";

/** Who may delete. */
const DELETERS = ["administrator", "analyst"];

type Changed = Awaited<ReturnType<typeof changedBy>>;

/** The platform makes an individual of who writes for the first time; besides, only this was made. */
function onlyMade({ changes, after }: Changed, id: string): void {
  expect(changes).toContain(`+${id}`);
  const rest = changes.filter((one) => one !== `+${id}`);
  expect(rest.length).toBeLessThanOrEqual(1);
  for (const one of rest) expect(after.get(one.slice(1))).toMatchObject({ entity_type: "Individual" });
}

const makes = (
  tool: string,
  own: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
): Truth<Stage> => ({
  tool,
  cases: [
    {
      about: "makes what was asked with what it holds, and nothing else",
      as: WRITERS,
      async prove(stage, person) {
        const { ids, run } = stage.world;
        const args = {
          name: fresh(stage, "Made"),
          description: "Why.",
          object_ids: [ids.malware0, ids.set0, ids.inside],
          refs: { markings: ["TLP:GREEN"], labels: [`label ${run}`] },
          ...own,
        };
        const changed = await changedBy(stage, person, tool, args);
        expect(changed.refusal).toBe("");
        const made = object(changed.result);
        onlyMade(changed, made.id);
        const node = changed.after.get(made.id) as never as Row;
        expect(node).toMatchObject(expected);
        expect([markingsOf(node as never), labelsOf(node as never)]).toEqual([["TLP:GREEN"], [`label ${run}`]]);
        expect((await seenBy(stage, "root").contents(made.id))!.map(({ id }) => id).sort()).toEqual(
          [...args.object_ids].sort(),
        );
        expect(changed.result!.object_count).toBe(3);
        expect((changed.result!.result as { notices?: string[] }).notices ?? []).toEqual([]);
        expect(node.createdBy === null).toBe(tool === "create_grouping");
        const again = await changedBy(stage, person, tool, args);
        expect(object(again.result).id).not.toBe(made.id);
        expect(JSON.stringify(again.result)).toContain(`with this name already existed (id ${made.id})`);
      },
    },
    refused(
      "a hidden object in it is not there",
      tool,
      (stage) => ({ name: fresh(stage, "Made"), ...own, object_ids: [stage.world.ids.malware4] }),
      /visible/,
      ["analyst", "writer"],
    ),
    refused(
      "a marking above one's clearance is refused",
      tool,
      (stage) => ({ name: fresh(stage, "Made"), ...own, refs: { markings: ["TLP:RED"] } }),
      /not cleared|does not exist/,
      ["analyst", "writer"],
    ),
    others(tool, (stage) => ({ name: fresh(stage, "Made"), ...own })),
  ],
});

/** Tools that make, change and delete groupings, cases and tasks. */
export const managedContainerTruths: readonly Truth<Stage>[] = [
  makes("create_grouping", { context: "Malware-Analysis" }, { entity_type: "Grouping", context: "malware-analysis" }),
  makes(
    "create_case_incident",
    { severity: "High", priority: "p2", response_types: ["Ransomware"] },
    { entity_type: "Case-Incident", severity: "high", priority: "P2", response_types: ["ransomware"] },
  ),
  makes("create_case_rfi", { severity: "low" }, { entity_type: "Case-Rfi", severity: "low", priority: null }),
  makes(
    "create_case_rft",
    { priority: "P4", takedown_types: ["phishing"] },
    { entity_type: "Case-Rft", priority: "P4", takedown_types: ["phishing"] },
  ),
  {
    tool: "create_task",
    cases: [
      {
        about: "adds a task with the markings of its case, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const name = fresh(stage, "Case");
          const caseId = await stage.world.make("Case-Rfi", { name, ...stage.world.marked("TLP:GREEN") });
          const args = {
            case_id: caseId,
            name: fresh(stage, "Task"),
            due_date: "2026-12-24",
            labels: [`label ${stage.world.run}`],
          };
          const changed = await changedBy(stage, person, "create_task", args);
          expect(changed.refusal).toBe("");
          const made = object(changed.result);
          expect(changed.changes).toEqual([`+${made.id}`]);
          const node = changed.after.get(made.id) as never as Row;
          expect([node.entity_type, node.due_date]).toEqual(["Task", "2026-12-24T00:00:00.000Z"]);
          expect([markingsOf(node as never), labelsOf(node as never)]).toEqual([
            ["TLP:GREEN"],
            [`label ${stage.world.run}`],
          ]);
          expect((await seenBy(stage, "root").contents(made.id))!.map(({ id }) => id)).toEqual([caseId]);
        },
      },
      refused(
        "a task is of a case only",
        "create_task",
        (stage) => ({ case_id: stage.world.ids.malware0, name: fresh(stage, "Task") }),
        /is not a case/,
      ),
      others("create_task", (stage) => ({ case_id: stage.world.ids.many, name: fresh(stage, "Task") })),
    ],
  },
  {
    tool: "update_container",
    cases: [
      {
        about: "changes what is given of a report, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await stage.world.make("Report", {
            name: fresh(stage, "Report"),
            published: "2026-05-05T00:00:00.000Z",
            report_types: ["internal-report"],
            description: "First.",
            confidence: 0,
          });
          const { refusal, changes, after, result } = await changedBy(stage, person, "update_container", {
            container_id: id,
            types: ["Threat-Report"],
            published: "2026-06-06",
            status: "closed",
          });
          expect(refusal).toBe("");
          expect(changes).toEqual([`${id}.published`, `${id}.report_types`, `${id}.status.template.name`]);
          expect(after.get(id)).toMatchObject({
            published: "2026-06-06T00:00:00.000Z",
            report_types: ["threat-report"],
            status: { template: { name: "CLOSED" } },
          });
          expect(result!.notices ?? []).toEqual([]);
        },
      },
      {
        about: "changes a case, a grouping and a task that one made, and tells a confidence that was cut",
        as: WRITERS,
        async prove(stage, person) {
          const me = personOf(stage, person);
          const rfi = object(await me.get("create_case_rfi", { name: fresh(stage, "Case") })).id;
          const group = object(
            await me.get("create_grouping", { name: fresh(stage, "Group"), context: "unspecified" }),
          ).id;
          const task = object(await me.get("create_task", { case_id: rfi, name: fresh(stage, "Task") })).id;
          const one = await changedBy(stage, person, "update_container", {
            container_id: rfi,
            severity: "critical",
            priority: "P1",
            confidence: 99,
          });
          expect(one.refusal).toBe("");
          expect(one.changes.filter((change) => !change.endsWith(".confidence"))).toEqual([
            `${rfi}.priority`,
            `${rfi}.severity`,
          ]);
          const two = await changedBy(stage, person, "update_container", {
            container_id: group,
            context: "malware-analysis",
          });
          expect([two.refusal, two.changes]).toEqual(["", [`${group}.context`]]);
          const three = await changedBy(stage, person, "update_container", {
            container_id: task,
            due_date: "2027-01-01",
          });
          expect([three.refusal, three.changes]).toEqual(["", [`${task}.due_date`]]);
          if (person === "administrator") return;
          expect(JSON.stringify(one.result)).toContain("OpenCTI limits it to your account's maximum");
        },
      },
      refused(
        "what a kind does not have is refused",
        "update_container",
        ({ world }) => ({ container_id: world.ids.many, severity: "high" }),
        /objects of type Grouping do not have this field/,
      ),
      refused(
        "a word of no vocabulary is refused",
        "update_container",
        ({ world }) => ({ container_id: world.ids.many, context: "gossip" }),
        /not one of/,
      ),
      refused(
        "a hidden container is not there",
        "update_container",
        ({ world }) => ({ container_id: world.ids.report4, description: "no" }),
        /visible/,
        ["analyst", "writer"],
      ),
      others("update_container", ({ world }) => ({ container_id: world.ids.many, description: "no" })),
    ],
  },
  {
    tool: "delete_container",
    cases: [
      {
        about: "deletes a container, and what it held stays",
        as: DELETERS,
        async prove(stage, person) {
          const id = await stage.world.make("Grouping", {
            name: fresh(stage, "Group"),
            context: "unspecified",
            objects: [stage.world.ids.malware0],
            confidence: 0,
          });
          const { refusal, changes } = await changedBy(stage, person, "delete_container", { container_id: id });
          expect([refusal, changes]).toEqual(["", [`-${id}`]]);
        },
      },
      {
        about: "is refused to who may write and not delete",
        as: ["writer"],
        async prove(stage, person) {
          const id = await stage.world.make("Grouping", {
            name: fresh(stage, "Group"),
            context: "unspecified",
            confidence: 0,
          });
          await refusedWithoutTrace(stage, person, "delete_container", { container_id: id }, /right/);
        },
      },
      refused(
        "what is no container is refused",
        "delete_container",
        ({ world }) => ({ container_id: world.ids.malware0 }),
        /is not a container/,
        DELETERS,
      ),
      others("delete_container", ({ world }) => ({ container_id: world.ids.many })),
    ],
  },
];
