import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { labelsOf, markingsOf } from "../seen.js";
import { holdsNothingHidden, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { READERS } from "../world.js";

import { idsOf, outside, readOrUnknown, relationshipsOf, SOME } from "./reading.js";

/** Tools that read one object, and what hangs on it. */
export const objectTruths: readonly Truth<Stage>[] = [
  {
    tool: "get_entity",
    cases: [
      {
        about: "says of an object what the platform says, its counts counted one by one",
        as: READERS,
        async prove(stage, person) {
          for (const key of SOME) {
            const id = stage.world.ids[key]!;
            const read = await readOrUnknown(stage, person, "get_entity", "object_id", id);
            if (read === undefined) continue;
            const { node, said } = read;
            const object = said.object as Row;
            expect(object.name).toBe(node.representative.main);
            expect(object.description ?? "").toBe(node.representative.secondary ?? "");
            expect([...((object.markings ?? []) as string[])].sort()).toEqual(markingsOf(node));
            expect([...((object.labels ?? []) as string[])].sort()).toEqual(labelsOf(node));
            expect(said.standard_id).toBe(node.standard_id);
            expect(said.connections).toBe((await relationshipsOf(stage, person, id)).length);
            const containers = (await seenBy(stage, person).objects()).filter(({ entity_type }) =>
              ["Report", "Grouping", "Note"].includes(entity_type),
            );
            const holding = [];
            for (const one of containers.filter((one) => one.representative.main.includes(stage.world.run))) {
              const held = await seenBy(stage, person).contents(one.id);
              if (held?.some((inside) => inside.id === id)) holding.push(one.id);
            }
            expect([key, said.containers]).toEqual([key, holding.length]);
          }
        },
      },
      outside("get_entity", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "get_entity_stix",
    cases: [
      {
        about: "gives the platform's own STIX object",
        as: READERS,
        async prove(stage, person) {
          for (const key of SOME) {
            const read = await readOrUnknown(stage, person, "get_entity_stix", "object_id", stage.world.ids[key]!);
            if (read === undefined) continue;
            const { data } = await stage.platform.call(person, "query($id: String!) { stix(id: $id) }", {
              id: stage.world.ids[key],
            });
            expect(read.said.stix).toEqual(JSON.parse(data.stix));
          }
        },
      },
      outside("get_entity_stix", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "get_report",
    cases: [
      {
        about: "says of a report what the platform says, and counts what it holds",
        as: READERS,
        async prove(stage, person) {
          for (const key of ["report0", "report1", "report4", "report5", "around"]) {
            const read = await readOrUnknown(stage, person, "get_report", "report_id", stage.world.ids[key]!);
            if (read === undefined) continue;
            const report = read.said.report as Row;
            expect(report.name).toBe(read.node.representative.main);
            expect(report.report_types ?? []).toEqual(read.node.report_types ?? []);
            expect(read.said.object_count).toBe((await seenBy(stage, person).contents(read.node.id))!.length);
          }
        },
      },
      outside("get_report", ({ world }) => ({ report_id: world.ids.report0 })),
    ],
  },
  {
    tool: "list_container_objects",
    cases: [
      {
        about: "has what the container holds for this person, over all pages, and counts it",
        as: READERS,
        async prove(stage, person) {
          for (const key of ["report0", "report1", "many", "around"]) {
            const id = stage.world.ids[key]!;
            const held = await seenBy(stage, person).contents(id);
            const reading = {
              tool: "list_container_objects",
              rows: "objects",
              args: { container_id: id },
              pageSize: 3,
            };
            if (held === undefined) {
              await refuses(stage, person, reading.tool, reading.args);
              continue;
            }
            const { rows } = await readWhole(stage, person, reading);
            expect([key, idsOf(rows)]).toEqual([key, idsOf(held)]);
          }
        },
      },
      {
        about: "narrows by type and words",
        as: READERS,
        async prove(stage, person) {
          const { ids, run } = stage.world;
          const seen = new Map((await seenBy(stage, person).objects()).map((node) => [node.id, node]));
          const held = (await seenBy(stage, person).contents(ids.many!))!;
          const wanted = held.filter(({ id }) => String(seen.get(id)?.representative.main).includes(run));
          const args = { container_id: ids.many, query: run, types: ["Malware"] };
          const { rows } = await readWhole(stage, person, {
            tool: "list_container_objects",
            rows: "objects",
            args,
            pageSize: 3,
          });
          expect(idsOf(rows)).toEqual(idsOf(wanted));
        },
      },
      outside("list_container_objects", ({ world }) => ({ container_id: world.ids.report0 })),
    ],
  },
  {
    tool: "list_entity_relationships",
    cases: [
      {
        about: "has every relationship whose other end one sees, and says how many others there are",
        as: READERS,
        async prove(stage, person) {
          for (const key of ["set0", "malware0", "technique"]) {
            const id = stage.world.ids[key]!;
            const all = await relationshipsOf(stage, person, id);
            const isShown = ({ from, to }: Node) => from?.id !== undefined && to?.id !== undefined;
            const rows: Row[] = [];
            let hidden = 0;
            let token: unknown = "";
            do {
              const page: Readonly<Record<string, unknown>> = await personOf(stage, person).get(
                "list_entity_relationships",
                { object_id: id, page_size: 7, page_token: token },
              );
              rows.push(...((page.relationships ?? []) as Row[]));
              hidden += (page.hidden ?? 0) as number;
              expect(page.total_size).toBe(all.length);
              token = page.next_page_token;
            } while (token !== undefined);
            await holdsNothingHidden(stage, person, JSON.stringify(rows));
            expect(idsOf(rows)).toEqual(idsOf(all.filter(isShown)));
            expect(hidden).toBe(all.length - rows.length);
            for (const row of rows) {
              const direct = all.find((one) => one.id === row.id)!;
              expect(row.direction).toBe(direct.fromId === id ? "outgoing" : "incoming");
              expect((row.other as Row).id).toBe(direct.fromId === id ? direct.toId : direct.fromId);
            }
          }
        },
      },
      outside("list_entity_relationships", ({ world }) => ({ object_id: world.ids.set0 })),
    ],
  },
  {
    tool: "get_top_related_entities",
    cases: [
      {
        about: "ranks what one sees by the number of relationships, and nothing hidden",
        as: READERS,
        async prove(stage, person) {
          for (const [key, limit] of [
            ["set0", 50],
            ["set0", 5],
            ["malware0", 10],
          ] as const) {
            const id = stage.world.ids[key]!;
            const counts = new Map<string, number>();
            for (const { from, to } of await relationshipsOf(stage, person, id)) {
              const other = from?.id === id ? to?.id : from?.id;
              if (other !== undefined) counts.set(other, (counts.get(other) ?? 0) + 1);
            }
            const said = await personOf(stage, person).get<{ related?: { id: string; count: number }[] }>(
              "get_top_related_entities",
              { object_id: id, limit },
            );
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            const related = said.related ?? [];
            expect(related.map(({ count }) => count)).toEqual(
              [...counts.values()].sort((a, b) => b - a).slice(0, limit),
            );
            for (const one of related) expect(one.count).toBe(counts.get(one.id));
          }
        },
      },
      outside("get_top_related_entities", ({ world }) => ({ object_id: world.ids.set0 })),
    ],
  },
];
