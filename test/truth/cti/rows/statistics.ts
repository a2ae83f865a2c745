import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { holdsNothingHidden, personOf, readWhole, type Stage, seenBy } from "../stage.js";
import { ONLY_READERS, OUTSIDE, READERS } from "../world.js";
import { phaseOf } from "../world-kinds.js";
import { changedBy, others, refused, target } from "./changed.js";
import { outside, relationshipsOf } from "./reading.js";

interface Bucket {
  readonly id?: string;
  readonly name: string;
  readonly count: number;
}
interface Period {
  readonly start: string;
  readonly count?: number;
}

/** How often each name stands in a list. */
const tally = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};
const bucketsOf = (rows: readonly Bucket[] | undefined) =>
  Object.fromEntries((rows ?? []).map(({ name, count }) => [name, count]));

/** The relationships of an object with what is at the other end, where a person sees it. */
async function tiesOf(stage: Stage, person: string, id: string): Promise<{ node: Node; other: Node }[]> {
  const seen = new Map((await seenBy(stage, person).objects()).map((node) => [node.id, node]));
  return (await relationshipsOf(stage, person, id)).flatMap((node) => {
    const other = seen.get(node.fromId === id ? node.toId : node.fromId);
    return other === undefined ? [] : [{ node, other }];
  });
}

async function ask<T>(stage: Stage, person: string, tool: string, args: object): Promise<T> {
  const said = await personOf(stage, person).get<T>(tool, args);
  await holdsNothingHidden(stage, person, JSON.stringify(said));
  return said;
}

const byQuarter = (times: readonly string[]) =>
  tally(
    times.map(
      (time) =>
        `${time.slice(0, 4)}-${String(Math.floor((Number(time.slice(5, 7)) - 1) / 3) * 3 + 1).padStart(2, "0")}-01`,
    ),
  );
const periodsOf = (rows: readonly Period[]) =>
  Object.fromEntries(rows.flatMap(({ start, count }) => (count ? [[start.slice(0, 10), count]] : [])));

/** Tools that count. */
export const statisticsTruths: readonly Truth<Stage>[] = [
  {
    tool: "get_entity_statistics",
    cases: [
      {
        about: "counts the relationships whose other end one sees, and no others",
        as: READERS,
        async prove(stage, person) {
          for (const key of ["set0", "malware0", "technique"]) {
            const id = stage.world.ids[key]!;
            const ties = await tiesOf(stage, person, id);
            const said = await ask<Row>(stage, person, "get_entity_statistics", { object_id: id });
            expect([key, said.relationships ?? 0]).toEqual([key, ties.length]);
            expect(said.related_objects ?? 0).toBe(new Set(ties.map(({ other }) => other.id)).size);
            expect(bucketsOf(said.by_other_type as Bucket[])).toEqual(
              tally(ties.map(({ other }) => other.entity_type)),
            );
            expect(bucketsOf(said.by_relationship_type as Bucket[])).toEqual(
              tally(ties.map(({ node }) => node.relationship_type)),
            );
          }
        },
      },
      outside("get_entity_statistics", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "count_relationships",
    cases: [
      {
        about: "counts those of an object whose other end one sees",
        as: READERS,
        async prove(stage, person) {
          const id = stage.world.ids.set0!;
          const ties = await tiesOf(stage, person, id);
          const count = async (args: object) =>
            (await ask<{ count?: number }>(stage, person, "count_relationships", args)).count ?? 0;
          expect(await count({ object_id: id })).toBe(ties.length);
          expect(await count({ object_id: id, relationship_types: ["uses"], other_types: ["Malware"] })).toBe(
            ties.filter(({ node, other }) => node.relationship_type === "uses" && other.entity_type === "Malware")
              .length,
          );
          const all = (await seenBy(stage, person).relationships()).filter(
            (one) => one.relationship_type === "based-on",
          );
          expect(await count({ relationship_types: ["based-on"] })).toBe(all.length);
        },
      },
      outside("count_relationships", () => ({})),
    ],
  },
  {
    tool: "get_relationship_distribution",
    cases: [
      {
        about: "counts those of an object whose other end one sees, by type and by what is there",
        as: READERS,
        async prove(stage, person) {
          const id = stage.world.ids.set0!;
          const ties = await tiesOf(stage, person, id);
          const by = async (field: string) =>
            bucketsOf(
              (
                await ask<{ buckets?: Bucket[] }>(stage, person, "get_relationship_distribution", {
                  object_id: id,
                  field,
                })
              ).buckets,
            );
          expect(await by("other_type")).toEqual(tally(ties.map(({ other }) => other.entity_type)));
          expect(await by("relationship_type")).toEqual(tally(ties.map(({ node }) => node.relationship_type)));
        },
      },
      outside("get_relationship_distribution", ({ world }) => ({ object_id: world.ids.set0, field: "other_type" })),
    ],
  },
  {
    tool: "get_relationship_timeseries",
    cases: [
      {
        about: "counts when those began whose other end one sees",
        as: READERS,
        async prove(stage, person) {
          const id = stage.world.ids.set0!;
          const ties = await tiesOf(stage, person, id);
          const times = ties.map(({ node }) => String(node.start_time)).filter((time) => time.startsWith("2026-"));
          const args = { object_id: id, interval: "quarter", start: "2026-02-01", end: "2026-12-31" };
          const { periods } = await ask<{ periods: Period[] }>(stage, person, "get_relationship_timeseries", args);
          expect(periodsOf(periods)).toEqual(byQuarter(times));
        },
      },
      outside("get_relationship_timeseries", ({ world }) => ({
        object_id: world.ids.set0,
        interval: "year",
        start: "2026-01-01",
      })),
    ],
  },
  {
    tool: "get_entity_distribution",
    cases: [
      {
        about: "counts what one sees by type, author, marking, label and attribute",
        as: READERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const seen = (await seenBy(stage, person).objects()).filter(
            (node) => node.entity_type === "Malware" && node.representative.main.includes(run),
          );
          const by = async (field: string) =>
            bucketsOf(
              (
                await ask<{ buckets?: Bucket[] }>(stage, person, "get_entity_distribution", {
                  field,
                  types: ["Malware"],
                  query: run,
                  limit: 100,
                })
              ).buckets,
            );
          const orNone = (names: readonly string[]) => (names.length === 0 ? ["unknown"] : names);
          expect(await by("entity_type")).toEqual(tally(seen.map((node) => node.entity_type)));
          expect(await by("author")).toEqual(tally(seen.map((node) => node.createdBy?.name ?? "unknown")));
          expect(await by("label")).toEqual(
            tally(seen.flatMap((node) => orNone((node.objectLabel ?? []).map((one: { value: string }) => one.value)))),
          );
          expect(await by("marking")).toEqual(
            tally(
              seen.flatMap((node) =>
                orNone((node.objectMarking ?? []).map((one: { definition: string }) => one.definition)),
              ),
            ),
          );
          expect(await by("confidence")).toEqual(tally(seen.map((node) => String(node.confidence))));
        },
      },
      outside("get_entity_distribution", () => ({ field: "entity_type" })),
    ],
  },
  {
    tool: "get_entity_timeseries",
    cases: [
      {
        about: "counts what one sees by quarter, month, week and day, wherever the start lies",
        as: READERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const seen = (await seenBy(stage, person).objects()).filter(
            (node) => node.entity_type === "Report" && node.representative.main.includes(run),
          );
          const times = seen
            .map((node) => String(node.published))
            .filter((time) => time >= "2026-01-01" && time < "2026-10-01");
          const series = async (interval: string, start: string) => {
            const args = { interval, start, end: "2026-09-30", date_field: "published", types: ["Report"], query: run };
            return periodsOf((await ask<{ periods: Period[] }>(stage, person, "get_entity_timeseries", args)).periods);
          };
          expect(await series("quarter", "2026-02-15")).toEqual(byQuarter(times));
          expect(await series("month", "2026-01-31")).toEqual(tally(times.map((time) => `${time.slice(0, 7)}-01`)));
          expect(await series("day", "2026-01-01")).toEqual(tally(times.map((time) => time.slice(0, 10))));
          const monday = (time: string) => {
            const at = new Date(`${time.slice(0, 10)}T00:00:00Z`);
            at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7));
            return at.toISOString().slice(0, 10);
          };
          expect(await series("week", "2026-01-01")).toEqual(tally(times.map(monday)));
        },
      },
      outside("get_entity_timeseries", () => ({ interval: "year", start: "2026-01-01" })),
    ],
  },
  {
    tool: "list_entity_ttps",
    cases: [
      {
        about: "has the techniques that one sees of what the object uses, once each, over all pages",
        as: READERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const id = ids.set0!;
          if (person === "administrator") {
            for (let i = 0; i < 5; i++)
              await stage.world.relate(id, "uses", ids[`Attack-Pattern${i}`]!, {
                start_time: "2026-01-01T00:00:00.000Z",
              });
            await stage.world.relate(id, "uses", ids["Attack-Pattern0"]!, { start_time: "2026-07-01T00:00:00.000Z" });
          }
          const expected = new Map(
            (await tiesOf(stage, person, id))
              .filter(
                ({ node, other }) =>
                  node.fromId === id && node.relationship_type === "uses" && other.entity_type === "Attack-Pattern",
              )
              .map(({ other }) => [other.id, other]),
          );
          const reading = { tool: "list_entity_ttps", rows: "ttps", args: { object_id: id }, pageSize: 2 };
          const { rows } = await readWhole(stage, person, reading);
          expect(rows.map((row) => row.id).sort()).toEqual([...expected.keys()].sort());
          for (const row of rows) expect(row.name).toBe(expected.get(row.id)!.representative.main);
        },
      },
      outside("list_entity_ttps", ({ world }) => ({ object_id: world.ids.set0 })),
    ],
  },
  {
    tool: "get_attack_matrix",
    cases: [
      {
        about: "has the techniques of a phase that one sees",
        as: READERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const seen = (await seenBy(stage, person).objects()).filter((node) =>
            (node.killChainPhases ?? []).some(({ phase_name }: { phase_name: string }) => phase_name === phaseOf(run)),
          );
          const said = await ask<{ phases: { technique_count: number; techniques: Row[] }[] }>(
            stage,
            person,
            "get_attack_matrix",
            { kill_chain_phase: phaseOf(run) },
          );
          expect(said.phases).toHaveLength(1);
          expect(said.phases[0]!.technique_count).toBe(seen.length);
          expect(said.phases[0]!.techniques.map(({ id }) => id).sort()).toEqual(seen.map(({ id }) => id).sort());
        },
      },
      outside("get_attack_matrix", () => ({})),
    ],
  },
  {
    tool: "list_recent_changes",
    cases: [
      {
        about: "has what the platform's history has, and names only what one sees",
        as: READERS,
        async prove(stage, person) {
          const query = `{ logs(first: 60, orderBy: timestamp, orderMode: desc, filters: { mode: and, filterGroups: [], filters: [{ key: "event_type", values: ["mutation", "create", "update", "delete", "merge"] }] }) { edges { node { timestamp event_scope } } } }`;
          const direct = async () =>
            (await stage.platform.need(person, query)).logs.edges.map(
              ({ node }: { node: { timestamp: string; event_scope: string } }) =>
                `${Date.parse(node.timestamp)} ${node.event_scope}`,
            );
          const before = await direct();
          const { changes = [] } = await ask<{ changes?: { at: string; act: string }[] }>(
            stage,
            person,
            "list_recent_changes",
            { page_size: 60 },
          );
          const told = changes.map(({ at, act }) => `${Date.parse(at)} ${act}`);
          if (JSON.stringify(before) === JSON.stringify(await direct())) expect(told).toEqual(before);
        },
      },
      outside("list_recent_changes", () => ({})),
    ],
  },
  {
    tool: "merge_entities",
    cases: [
      {
        about: "makes one of two, with the relationships of both",
        as: ["administrator", "analyst"],
        async prove(stage, person) {
          const [into, from] = [await target(stage), await target(stage)];
          const related = await stage.world.relate(stage.world.ids.set0!, "uses", from, { confidence: 0 });
          const { refusal, changes, result } = await changedBy(stage, person, "merge_entities", {
            target_id: into,
            source_ids: [from],
          });
          expect(refusal).toBe("");
          expect(changes).toContain(`-${from}`);
          expect(changes.filter((one) => !one.includes(from) && !one.includes(into) && !one.includes(related))).toEqual(
            [],
          );
          expect((result!.merged as Row[]).map(({ id }) => id)).toEqual([from]);
          const ties = await relationshipsOf(stage, "root", into);
          expect(ties.map(({ fromId }) => fromId)).toEqual([stage.world.ids.set0]);
        },
      },
      refused(
        "objects of two types and organizations are not merged",
        "merge_entities",
        ({ world }) => ({ target_id: world.ids.malware0, source_ids: [world.ids.set0] }),
        /has the type Intrusion-Set/,
        ["administrator", "analyst"],
      ),
      refused(
        "organizations are not merged",
        "merge_entities",
        ({ world }) => ({ target_id: world.ids.author, source_ids: [world.ids.malware0] }),
        /only read organizations/,
        ["administrator", "analyst"],
      ),
      others("merge_entities", ({ world }) => ({ target_id: world.ids.malware0, source_ids: [world.ids.malware1] }), [
        "writer",
        ...ONLY_READERS,
        ...OUTSIDE,
      ]),
    ],
  },
];
