import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { labelsOf, markingsOf } from "../seen.js";
import { holdsNothingHidden, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { DECORATED, OUTSIDE, READERS } from "../world.js";

const outside = (tool: string, args: (stage: Stage) => object) => ({
  about: "is refused to who may not read",
  as: OUTSIDE,
  prove: (stage: Stage, person: string) => refuses(stage, person, tool, args(stage)),
});

/** What a tool says of an object that somebody may see, and that it is unknown to whom it is hidden. */
async function readOrUnknown(
  stage: Stage,
  person: string,
  tool: string,
  argument: string,
  id: string,
): Promise<{ node: Node; said: Row } | undefined> {
  const node = await seenBy(stage, person).object(id);
  if (node === undefined) {
    await refuses(stage, person, tool, { [argument]: id }, /exists or is visible|not visible/);
    return undefined;
  }
  const said = await personOf(stage, person).get<Row>(tool, { [argument]: id });
  await holdsNothingHidden(stage, person, JSON.stringify(said));
  return { node, said };
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).sort();

/** The relationships of an object that a person sees at the platform. */
async function relationshipsOf(stage: Stage, person: string, id: string): Promise<Node[]> {
  return (await seenBy(stage, person).relationships()).filter(({ fromId, toId }) => fromId === id || toId === id);
}

const SOME = ["malware0", "malware4", "set0", "report0", "ip0", "note1", "many", "technique", "patternOnly"] as const;

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
    tool: "get_entity_relationships",
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
                "get_entity_relationships",
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
      outside("get_entity_relationships", ({ world }) => ({ object_id: world.ids.set0 })),
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
  {
    tool: "get_entity_history",
    cases: [
      {
        about: "has what the platform's history of the object has, newest first",
        as: READERS,
        async prove(stage, person) {
          for (const key of ["malware0", "malware4", "label"]) {
            const id = stage.world.ids[key]!;
            if (key !== "malware0" && (await seenBy(stage, person).object(id)) === undefined) continue;
            const query = `query($id: [Any!]!) { logs(first: 100, orderBy: timestamp, orderMode: desc, filters: { mode: and, filterGroups: [], filters: [{ key: "context_data.id", values: $id }, { key: "event_type", values: ["mutation", "create", "update", "delete", "merge"] }] }) { edges { node { timestamp event_scope } } } }`;
            const { data } = await stage.platform.call(person, query, { id: [id] });
            const direct = data.logs.edges.map(
              ({ node }: { node: { timestamp: string; event_scope: string } }) =>
                `${Date.parse(node.timestamp)} ${node.event_scope}`,
            );
            const { entries = [] } = await personOf(stage, person).get<{ entries?: { at: string; act: string }[] }>(
              "get_entity_history",
              { object_id: id, page_size: 100 },
            );
            expect(entries.map(({ at, act }) => `${Date.parse(at)} ${act}`)).toEqual(direct);
          }
        },
      },
      outside("get_entity_history", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "count_entities",
    cases: [
      {
        about: "counts what one sees",
        as: READERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const seen = (await seenBy(stage, person).objects()).filter((node) => node.representative.main.includes(run));
          const count = async (args: object) =>
            (await personOf(stage, person).get<{ count: number }>("count_entities", args)).count;
          expect(await count({ query: run, types: ["Malware"] })).toBe(
            seen.filter((node) => node.entity_type === "Malware").length,
          );
          expect(await count({ types: ["Malware"], query: run, filter: { labels: [`label ${run}`] } })).toBe(
            seen.filter((node) => node.entity_type === "Malware" && labelsOf(node).length > 0).length,
          );
          expect(await count({ query: `c2-1.${run}` })).toBe(
            seen.filter((node) => node.representative.main.includes(`c2-1.${run}`)).length,
          );
        },
      },
      outside("count_entities", () => ({})),
    ],
  },
  {
    tool: "lookup_ioc",
    cases: [
      {
        about: "knows what an observable or an indicator of this person says, and nothing else",
        as: READERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const seen = await seenBy(stage, person).objects();
          const long = `https://long.${run}.example/${"x".repeat(600)}`;
          const world = stage.world as unknown as { address(i: number): string; hash(i: number, n: number): string };
          const asked = [
            `c2-0.${run}.example`,
            `only[.]${run}.example`,
            `secret.${run}.example`,
            `later.${run}.example`,
            `hxxps://sigma.${run}.example/x`,
            long,
            world.address(0),
            world.address(4),
            world.hash(0, 32),
            world.hash(2, 64).toUpperCase(),
            `nothing.${run}.example`,
            `${run}.example`,
          ];
          for (const given of asked) {
            const value = given.replace("hxxp", "http").replaceAll("[.]", ".").toLowerCase();
            const bearing = seen.filter(
              (node) =>
                node.observable_value?.toLowerCase() === value ||
                node.hashes?.some(({ hash }: { hash: string }) => hash === value),
            );
            const naming = seen.filter((node) =>
              [`'${value}'`, `"${value}"`].some((one) =>
                String(node.pattern ?? "")
                  .toLowerCase()
                  .includes(one),
              ),
            );
            const said = await personOf(stage, person).get<Record<string, unknown>>("lookup_ioc", { value: given });
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            const matches = (said.matches ?? []) as (Row & { indicators?: Row[]; containers?: Row[] })[];
            expect([given, idsOf(matches)]).toEqual([given, idsOf(bearing)]);
            const indicators = [
              ...matches.flatMap((match) => match.indicators ?? []),
              ...((said.indicators ?? []) as Row[]),
            ];
            expect([given, idsOf(indicators)]).toEqual([given, idsOf(naming)]);
            expect([given, said.known ?? false]).toEqual([given, bearing.length + naming.length > 0]);
          }
        },
      },
      outside("lookup_ioc", () => ({ value: "192.0.2.1" })),
    ],
  },
  {
    tool: "find_entity_by_name",
    cases: [
      {
        about: "finds names and aliases exactly, however they are decorated, and as tools show them",
        as: READERS,
        async prove(stage, person) {
          const { run, ids } = stage.world;
          const seen = new Map((await seenBy(stage, person).objects()).map((node) => [node.id, node]));
          const asked: [string, string][] = [
            ...DECORATED.map(([key, name]) => [key, name.replace("RUN", run)] as [string, string]),
            ["set1", `Set 1 ${run}`],
            ["set2", `ALIAS 2 ${run.toUpperCase()}`],
            ["malware3", `  malware 3 ${run} `],
            ["malware4", `Malware 4 ${run}`],
          ];
          const technique = seen.get(ids.technique!);
          asked.push(["technique", `Technique ${run}`], ["technique", String(technique?.representative.main)]);
          for (const [key, name] of asked) {
            const said = await personOf(stage, person).get<{ exact?: boolean; entities?: Row[] }>(
              "find_entity_by_name",
              { name },
            );
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            const isSeen = seen.has(ids[key]!);
            expect([name, said.exact ?? false]).toEqual([name, isSeen]);
            if (isSeen) expect([name, idsOf(said.entities ?? [])]).toEqual([name, [ids[key]]]);
          }
        },
      },
      outside("find_entity_by_name", () => ({ name: "Anything" })),
    ],
  },
  {
    tool: "whoami",
    cases: [
      {
        about: "says who one is, with the markings and capabilities that the platform gives",
        as: [...READERS, "nobody"],
        async prove(stage, person) {
          const { me } = await stage.platform.need(
            person,
            "{ me { id name user_email capabilities { name } allowed_marking { definition } } }",
          );
          const said = await personOf(stage, person).get<Record<string, unknown>>("whoami");
          expect(said.id).toBe(me.id);
          expect(said.email).toBe(me.user_email);
          expect([...((said.markings ?? []) as string[])].sort()).toEqual(
            me.allowed_marking.map(({ definition }: { definition: string }) => definition).sort(),
          );
          const held = (said.capabilities ?? []) as string[];
          if (!held.includes("*")) for (const { name } of me.capabilities) expect(held).toContain(name);
        },
      },
      {
        about: "says that there is no account",
        as: ["stranger"],
        prove: (stage, person) => refuses(stage, person, "whoami", {}, /no account|sign/),
      },
    ],
  },
  {
    tool: "list_entity_types",
    cases: [
      {
        about: "lists the platform's own types",
        as: READERS,
        async prove(stage, person) {
          const { types } = await personOf(stage, person).get<{ types: string[] }>("list_entity_types", {});
          for (const base of ["Stix-Domain-Object", "Stix-Cyber-Observable"]) {
            const { subTypes } = await stage.platform.need(
              person,
              "query($t: String) { subTypes(type: $t, first: 500) { edges { node { id } } } }",
              { t: base },
            );
            for (const { node } of subTypes.edges) expect(types).toContain(node.id);
          }
          for (const one of ["uses", "related-to", "indicates"]) expect(types).toContain(one);
        },
      },
      {
        about: "is refused without an account",
        as: ["stranger"],
        prove: (stage, person) => refuses(stage, person, "list_entity_types", {}),
      },
    ],
  },
];
