import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { markingsOf } from "../seen.js";
import { holdsNothingHidden, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { READERS } from "../world.js";
import { makeContainers } from "./container-world.js";
import { idsOf, outside, readOrUnknown } from "./reading.js";

const TYPES = ["Report", "Grouping", "Case-Incident", "Case-Rfi", "Case-Rft", "Task", "Note", "Opinion"];

/** The containers of some types that a person sees to hold an object. */
async function holding(stage: Stage, person: string, id: string, types = TYPES): Promise<Node[]> {
  const seen = seenBy(stage, person);
  const found: Node[] = [];
  for (const one of (await seen.objects()).filter(({ entity_type }) => types.includes(entity_type)))
    if ((await seen.contents(one.id))?.some((inside) => inside.id === id)) found.push(one);
  return found;
}

function sameContainer(said: Row, node: Node): void {
  expect(said.type).toBe(node.entity_type);
  if (node.entity_type !== "Note") expect(said.name).toBe(node.representative.main);
  expect([...((said.markings ?? []) as string[])].sort()).toEqual(markingsOf(node));
  expect(said.severity ?? null).toBe(node.severity ?? null);
  expect(said.context ?? null).toBe(node.context ?? null);
  expect(said.confidence ?? null).toBe(node.confidence);
}

/** Tools that read containers, and what holds an object. */
export const containerTruths: readonly Truth<Stage>[] = [
  {
    tool: "get_container",
    cases: [
      {
        about: "says of a container what the platform says, its objects counted",
        as: READERS,
        async prove(stage, person) {
          await makeContainers(stage);
          for (const key of ["report0", "report4", "many", "note1", "case0", "case2", "case4", "task0", "around"]) {
            const id = stage.world.ids[key]!;
            const read = await readOrUnknown(stage, person, "get_container", "container_id", id);
            if (read === undefined) continue;
            const said = read.said.container as Row;
            sameContainer(said, read.node);
            const contents = await seenBy(stage, person).contents(id);
            expect([key, said.object_count]).toEqual([key, contents!.length]);
          }
        },
      },
      outside("get_container", ({ world }) => ({ container_id: world.ids.report0 })),
    ],
  },
  {
    tool: "get_case",
    cases: [
      {
        about: "says of a case what the platform says, with the tasks that this person sees",
        as: READERS,
        async prove(stage, person) {
          await makeContainers(stage);
          for (const key of ["case0", "case1", "case2", "case3", "case4"]) {
            const id = stage.world.ids[key]!;
            const read = await readOrUnknown(stage, person, "get_case", "case_id", id);
            if (read === undefined) continue;
            sameContainer(read.said.container as Row, read.node);
            const tasks = await holding(stage, person, id, ["Task"]);
            expect(idsOf((read.said.tasks ?? []) as Row[])).toEqual(idsOf(tasks));
            expect(read.said.task_count).toBe(tasks.length);
          }
        },
      },
      outside("get_case", ({ world }) => ({ case_id: world.ids.case0 ?? world.ids.report0 })),
    ],
  },
  {
    tool: "list_entity_containers",
    cases: [
      {
        about: "names every container that holds an object, and no other, over all pages",
        as: READERS,
        async prove(stage, person) {
          await makeContainers(stage);
          for (const key of ["malware0", "set0", "inside"]) {
            const id = stage.world.ids[key]!;
            const { rows } = await readWhole(stage, person, {
              tool: "list_entity_containers",
              rows: "containers",
              args: { object_id: id, types: TYPES },
              pageSize: 3,
            });
            expect([key, idsOf(rows)]).toEqual([key, idsOf(await holding(stage, person, id))]);
          }
        },
      },
      outside("list_entity_containers", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "check_container_membership",
    cases: [
      {
        about: "tells what a container holds of what this person sees, and a hidden object is not there",
        as: READERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const seen = seenBy(stage, person);
          const asked: string[] = [];
          for (const key of ["malware0", "malware1", "malware2", "set0", "set3", "technique"])
            if ((await seen.object(ids[key]!)) !== undefined) asked.push(ids[key]!);
          const held = new Set((await seen.contents(ids.report0!))!.map(({ id }) => id));
          const said = await personOf(stage, person).get<Record<string, Row[] | undefined>>(
            "check_container_membership",
            { container_id: ids.report0, object_ids: asked },
          );
          await holdsNothingHidden(stage, person, JSON.stringify(said));
          expect(idsOf(said.held ?? [])).toEqual(asked.filter((id) => held.has(id)).sort());
          expect(idsOf(said.not_held ?? [])).toEqual(asked.filter((id) => !held.has(id)).sort());
          if (person === "administrator") return;
          const hidden = { container_id: ids.report0, object_ids: [ids.malware4] };
          await refuses(stage, person, "check_container_membership", hidden, /visible/);
        },
      },
      outside("check_container_membership", ({ world }) => ({
        container_id: world.ids.report0,
        object_ids: [world.ids.malware0],
      })),
    ],
  },
  {
    tool: "lookup_vulnerability",
    cases: [
      {
        about: "knows what this person sees by its name, with who exploits or targets it",
        as: READERS,
        async prove(stage, person) {
          await makeContainers(stage);
          const { ids, run } = stage.world;
          const seen = seenBy(stage, person);
          for (let i = 0; i < 8; i++) {
            const id = ids[`flaw${i}`]!;
            const node = await seen.object(id);
            const said = await personOf(stage, person).get<{ known?: boolean; vulnerability?: Row }>(
              "lookup_vulnerability",
              { name: `cve-2031-${i}${run}` },
            );
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            expect([i, said.known ?? false]).toEqual([i, node !== undefined]);
            if (node === undefined) continue;
            const told = said.vulnerability!;
            expect([told.id, told.cvss_score ?? null, told.kev ?? null]).toEqual([
              id,
              node.x_opencti_cvss_base_score,
              node.x_opencti_cisa_kev,
            ]);
            const from = (await seen.relationships()).filter(
              (one) => one.toId === id && ["exploits", "targets"].includes(one.relationship_type) && one.from?.id,
            );
            expect(idsOf((told.exploited_by ?? []) as Row[])).toEqual(
              [...new Set(from.map((one) => one.fromId))].sort(),
            );
          }
        },
      },
      outside("lookup_vulnerability", ({ world }) => ({ name: `CVE-2031-0${world.run}` })),
    ],
  },
];
