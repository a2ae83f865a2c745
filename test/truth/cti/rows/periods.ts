import { expect } from "vitest";
import { everyPage, type Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { personOf, readWhole, type Stage, seenBy } from "../stage.js";
import { READERS } from "../world.js";
import { fresh, refused } from "./changed.js";
import { sighted } from "./links.js";
import { idsOf } from "./reading.js";

const time = (value: unknown) => (value ? Date.parse(String(value)) : undefined);
// The platform writes these where a period has no beginning or no end.
const [NEVER, FOREVER] = [Date.parse("1970-01-01T00:00:00.000Z"), Date.parse("5138-11-16T09:46:40.000Z")];
const told = (value: unknown) => ([NEVER, FOREVER].includes(time(value) ?? NEVER) ? undefined : time(value));

/** Relationships and sightings of one object, with a period, a half of one and none. */
interface Dated {
  readonly from: string;
  readonly seen: string;
}
let made: Promise<Dated> | undefined;

async function makeDated(stage: Stage): Promise<Dated> {
  const { world } = stage;
  const from = await world.make("Intrusion-Set", { name: fresh(stage, "Dated") });
  const seen = await world.make("Malware", { name: fresh(stage, "Seen"), confidence: 0 });
  const [start, stop] = ["2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"];
  for (const [period, ...markings] of [
    [{ start_time: start, stop_time: stop }],
    [{ start_time: start }],
    [{ stop_time: stop }],
    [{}],
    [{ start_time: "1969-12-31T23:59:59.999Z", stop_time: "9999-11-30T00:00:00.000Z" }],
    [{ start_time: "2026-03-01T00:00:00.001Z" }, "TLP:AMBER"],
    [{ start_time: start, stop_time: start }, "TLP:RED"],
  ] as const) {
    const to = await world.make("Tool", { name: fresh(stage, "Of a period"), ...world.marked(...markings) });
    await world.relate(from, "uses", to, period);
  }
  for (const period of [
    { first_seen: start, last_seen: stop },
    { first_seen: start },
    { last_seen: stop },
    {},
    { first_seen: "2026-04-01T00:00:00.001Z", last_seen: "2026-04-01T00:00:00.001Z" },
  ])
    await sighted(stage, seen, await world.make("City", { name: fresh(stage, "Place") }), period);
  return { from, seen };
}

const dated = (stage: Stage) => {
  made ??= makeDated(stage);
  return made;
};

/** Bounds of a start, inclusive at both ends. */
const BOUNDS: readonly { readonly started_after?: string; readonly started_before?: string }[] = [
  {},
  { started_after: "2026-03-01T00:00:00Z" },
  { started_before: "2026-03-01T00:00:00Z" },
  { started_after: "2026-03-01T00:00:00Z", started_before: "2026-03-01T00:00:00Z" },
  { started_after: "2026-03-01T02:00:00+02:00", started_before: "2026-02-28T19:00:00-05:00" },
  { started_before: "1999-01-01" },
  { started_after: "0001-01-01T00:00:00Z" },
  { started_after: "9999-12-31T23:59:59Z" },
  { started_after: "2026-04-01", started_before: "2026-03-01" },
];

/** When relationships hold and things were seen, in rows and as conditions. */
export const periodTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_relationships",
    cases: [
      {
        about: "rows have their period, and a bound of the start finds none that has no start",
        as: READERS,
        async prove(stage, person) {
          const { from } = await dated(stage);
          const query = `query($id: [String]) { r: stixCoreRelationships(first: 100, fromId: $id) { edges { node { id start_time stop_time } } } }`;
          const { r } = await stage.platform.need(person, query, { id: [from] });
          const direct = new Map<string, Row>(r.edges.map(({ node }: { node: Row }) => [node.id, node]));
          expect(direct.size).toBeGreaterThan(4);
          for (const bounds of BOUNDS) {
            const args = { from_id: from, ...bounds };
            const reading = { tool: "list_relationships", rows: "relationships", args, pageSize: 2 };
            const { rows } = await readWhole(stage, person, reading);
            const holds = ({ start_time }: Row) => {
              const start = told(start_time);
              const { started_after: after, started_before: before } = bounds;
              if (after !== undefined && !((start ?? Number.NEGATIVE_INFINITY) >= Date.parse(after))) return false;
              return before === undefined || (start ?? Number.POSITIVE_INFINITY) <= Date.parse(before);
            };
            expect([bounds, idsOf(rows)]).toEqual([bounds, idsOf([...direct.values()].filter(holds))]);
            for (const row of rows) {
              const node = direct.get(row.id)!;
              expect([time(row.start_time), time(row.stop_time)]).toEqual([
                told(node.start_time),
                told(node.stop_time),
              ]);
            }
          }
        },
      },
    ],
  },
  {
    tool: "create_relationship",
    cases: [
      refused(
        "a time that the platform breaks down on is refused",
        "create_relationship",
        ({ world }) => ({
          from_id: world.ids.set1,
          to_id: world.ids.malware1,
          relationship_type: "uses",
          stop_time: "9999-12-31T23:59:59Z",
        }),
        /stop_time: must be before/,
        ["administrator", "analyst"],
      ),
    ],
  },
  {
    tool: "list_entity_relationships",
    cases: [
      {
        about: "rows have their period, from both ends",
        as: READERS,
        async prove(stage, person) {
          const { from } = await dated(stage);
          const all = (await seenBy(stage, person).relationships()).filter(({ fromId }) => fromId === from);
          const own = new Map(all.map((node) => [node.id, node]));
          const query = `query($id: [String]) { r: stixCoreRelationships(first: 100, fromId: $id) { edges { node { id stop_time } } } }`;
          const { r } = await stage.platform.need(person, query, { id: [from] });
          const stops = new Map<string, unknown>(r.edges.map(({ node }: { node: Row }) => [node.id, node.stop_time]));
          for (const object_id of [from, ...all.flatMap(({ to }) => (to?.id === undefined ? [] : [to.id as string]))]) {
            const args = { object_id };
            const reading = { tool: "list_entity_relationships", rows: "relationships", args };
            const { rows } = await everyPage(personOf(stage, person), reading);
            expect(rows.length).toBeGreaterThan(0);
            for (const row of rows) {
              expect([time(row.start_time), time(row.stop_time)]).toEqual([
                told(own.get(row.id)!.start_time),
                told(stops.get(row.id)),
              ]);
            }
          }
        },
      },
    ],
  },
  {
    tool: "list_sightings",
    cases: [
      {
        about: "a bound of the last sight finds none whose time is not known",
        as: READERS,
        async prove(stage, person) {
          const { seen } = await dated(stage);
          const fields = "id fromId first_seen last_seen";
          const direct = (await stage.platform.list(person, "stixSightingRelationships", fields)).filter(
            ({ fromId }) => fromId === seen,
          );
          expect(direct).toHaveLength(5);
          for (const seen_after of [undefined, "2026-04-01T00:00:00Z", "2026-04-01T02:00:00+02:00", "4000-01-01"]) {
            const args = { from_id: seen, ...(seen_after && { seen_after }) };
            const { rows } = await readWhole(stage, person, { tool: "list_sightings", rows: "sightings", args });
            const holds = (node: Row) =>
              seen_after === undefined || (told(node.last_seen) ?? 0) >= Date.parse(seen_after);
            expect([seen_after, idsOf(rows)]).toEqual([seen_after, idsOf(direct.filter(holds))]);
          }
        },
      },
    ],
  },
];
