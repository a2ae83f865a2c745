import { expect } from "vitest";
import { everyPage, type Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { markingsOf } from "../seen.js";
import { holdsNothingHidden, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { ONLY_READERS, OUTSIDE, READERS, WRITERS } from "../world.js";
import { changedBy, others, refused, refusedWithoutTrace, target } from "./changed.js";
import { idsOf, outside } from "./reading.js";

const time = (value: unknown) => (value ? Date.parse(String(value)) : undefined);
// The platform writes these where a period has no beginning or no end.
const BOUNDS = ["1970-01-01T00:00:00.000Z", "5138-11-16T09:46:40.000Z"];
const told = (value: unknown) => (BOUNDS.includes(String(value)) ? undefined : time(value));

/** What is told of the ends of a relationship, as the platform shows them to a person. */
function sameEnds(row: Row, node: Node, asked: Asked = {}): void {
  for (const side of ["from", "to"] as const) {
    const told = node[side] === null || asked[`${side}_id`] !== undefined ? undefined : node[side].id;
    expect((row[side] as Row | undefined)?.id).toBe(told);
  }
}

/** The ends that a list is asked for by: they are told once, and not in its rows. */
interface Asked extends Readonly<Record<string, unknown>> {
  readonly from_id?: string | undefined;
  readonly to_id?: string | undefined;
}

/** Proves that the ends that were asked for are told once. */
async function askedEnds(stage: Stage, person: string, tool: string, args: Asked): Promise<void> {
  const said = await personOf(stage, person).get<{ from?: Row; to?: Row }>(tool, { ...args, page_size: 1 });
  expect([said.from?.id, said.to?.id]).toEqual([args.from_id, args.to_id]);
}

const SIGHTING = `id standard_id fromId toId first_seen last_seen attribute_count x_opencti_negative description confidence created_at
  objectMarking { definition }
  from { ... on StixCoreObject { id } } to { ... on StixCoreObject { id } }`;

/** The sightings that a person sees. */
const sightingsOf = (stage: Stage, person: string) =>
  stage.platform.list(person, "stixSightingRelationships", SIGHTING) as Promise<Node[]>;

/** Records a sighting as the administrator; its id. */
export async function sighted(stage: Stage, fromId: string, toId: string, more: object = {}): Promise<string> {
  const query =
    "mutation($i: StixSightingRelationshipAddInput!) { made: stixSightingRelationshipAdd(input: $i) { id } }";
  const i = { fromId, toId, attribute_count: 1, confidence: 0, ...more };
  return (await stage.platform.need("root", query, { i })).made.id;
}

/** The sightings at a place that a person sees; some are made where there are none. */
async function sightingsAt(stage: Stage, person: string, place: string): Promise<Node[]> {
  const { ids } = stage.world;
  if ((await sightingsOf(stage, "root")).every(({ toId }) => toId !== place)) {
    for (const key of ["malware0", "malware1", "malware4", "based"])
      await sighted(stage, ids[key]!, place, {
        first_seen: "2026-03-03T00:00:00.000Z",
        last_seen: "2026-03-04T00:00:00.000Z",
        description: `Seen in the mail ${"again ".repeat(40)}`,
      });
    await sighted(stage, ids.malware0!, place, {
      ...stage.world.marked("TLP:RED"),
      first_seen: "2026-08-03T00:00:00.000Z",
      last_seen: "2026-08-04T00:00:00.000Z",
    });
  }
  return (await sightingsOf(stage, person)).filter(({ toId }) => toId === place);
}

/** A relationship that everybody may change. */
async function related(stage: Stage, more: object = {}): Promise<{ id: string; to: string }> {
  const to = await target(stage);
  const id = await stage.world.relate(stage.world.ids.set0!, "uses", to, { confidence: 0, ...more });
  return { id, to };
}

async function relationship(stage: Stage, id: string): Promise<Node | undefined> {
  const query =
    "query($id: String) { one: stixCoreRelationship(id: $id) { id description confidence start_time stop_time } }";
  return (await stage.platform.need("root", query, { id })).one ?? undefined;
}

async function sighting(stage: Stage, id: string): Promise<Node | undefined> {
  const query = `query($id: String) { one: stixSightingRelationship(id: $id) { ${SIGHTING} } }`;
  return (await stage.platform.need("root", query, { id })).one ?? undefined;
}

/** Tools of relationships and sightings. */
export const linkTruths: readonly Truth<Stage>[] = [
  {
    tool: "get_relationship",
    cases: [
      {
        about: "says what the platform says, and nothing of an end that is hidden",
        as: READERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const seen = (await seenBy(stage, person).relationships()).filter(({ fromId }) => fromId === ids.set0);
          expect(seen.length).toBeGreaterThan(20);
          for (const node of seen.slice(0, 12)) {
            const said = await personOf(stage, person).get<Row>("get_relationship", { relationship_id: node.id });
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            const row = said.relationship as Row;
            expect(row.type).toBe(node.relationship_type);
            sameEnds(row, node);
            expect(time(row.start_time)).toBe(told(node.start_time));
            expect([...((said.markings ?? []) as string[])].sort()).toEqual(markingsOf(node));
            expect(said.standard_id).toBe(node.standard_id);
          }
        },
      },
      outside("get_relationship", ({ world }) => ({ relationship_id: world.ids.inside })),
    ],
  },
  {
    tool: "list_relationships",
    cases: [
      {
        about: "has those that the platform shows this person, by ends, types and start, over all pages",
        as: READERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const all = await seenBy(stage, person).relationships();
          const questions: readonly (readonly [args: Asked, holds: (node: Node) => boolean])[] = [
            [{ from_id: ids.set0 }, (node) => node.fromId === ids.set0],
            [{ to_id: ids.malware0 }, (node) => node.toId === ids.malware0],
            [
              { from_id: ids.set0, relationship_types: ["uses"], started_after: "2026-03-01" },
              (node) =>
                node.fromId === ids.set0 &&
                node.relationship_type === "uses" &&
                Date.parse(node.start_time) >= Date.parse("2026-03-01"),
            ],
            [{ from_id: ids.set0, to_types: ["Tool"] }, () => false],
          ];
          for (const [args, holds] of questions) {
            const { rows } = await readWhole(stage, person, {
              tool: "list_relationships",
              rows: "relationships",
              args,
              pageSize: 7,
            });
            const expected = all.filter(holds);
            expect(idsOf(rows)).toEqual(idsOf(expected));
            const byId = new Map(expected.map((node) => [node.id, node]));
            for (const row of rows) sameEnds(row, byId.get(row.id)!, args);
            await askedEnds(stage, person, "list_relationships", args);
          }
        },
      },
      {
        about: "loses and repeats nothing while others write",
        as: ["administrator", "reader"],
        async prove(stage, person) {
          const { ids } = stage.world;
          const expected = (await seenBy(stage, person).relationships()).filter(({ fromId }) => fromId === ids.set0);
          const reading = {
            tool: "list_relationships",
            rows: "relationships",
            args: { from_id: ids.set0 },
            pageSize: 9,
          };
          const between = async (page: number) => {
            if (page < 2) await related(stage);
          };
          const { rows, repeated } = await everyPage(personOf(stage, person), { ...reading, between });
          expect(repeated).toEqual([]);
          const known = new Set(expected.map(({ id }) => id));
          expect(idsOf(rows.filter(({ id }) => known.has(id)))).toEqual(idsOf(expected));
        },
      },
      outside("list_relationships", () => ({})),
    ],
  },
  {
    tool: "update_relationship",
    cases: [
      {
        about: "changes what was asked and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const { id } = await related(stage, { description: "before", start_time: "2026-01-01T00:00:00.000Z" });
          const { refusal, changes, result } = await changedBy(stage, person, "update_relationship", {
            relationship_id: id,
            confidence: 20,
          });
          expect([refusal, changes, result?.notices ?? []]).toEqual(["", [`${id}.confidence`], []]);
          const more = { relationship_id: id, description: "after", stop_time: "2026-02-01T00:00:00Z" };
          await personOf(stage, person).get("update_relationship", more);
          expect(await relationship(stage, id)).toMatchObject({
            description: "after",
            confidence: 20,
            start_time: "2026-01-01T00:00:00.000Z",
            stop_time: "2026-02-01T00:00:00.000Z",
          });
        },
      },
      refused(
        "a period that ends before it begins is refused",
        "update_relationship",
        ({ world }) => ({ relationship_id: world.ids.inside, start_time: "2026-02-02", stop_time: "2026-01-01" }),
        /stop_time/,
      ),
      others("update_relationship", ({ world }) => ({ relationship_id: world.ids.inside, description: "no" })),
    ],
  },
  {
    tool: "delete_relationship",
    cases: [
      {
        about: "takes one away, by id and by its ends, and says where there is none",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const one = await related(stage);
          const first = await changedBy(stage, person, "delete_relationship", { relationship_id: one.id });
          expect([first.refusal, first.changes]).toEqual(["", [`-${one.id}`]]);
          const ends = { from_id: ids.set0, to_id: one.to, relationship_type: "uses" };
          await refusedWithoutTrace(stage, person, "delete_relationship", ends, /nothing was deleted: no relationship/);
          const two = await related(stage, { start_time: "2026-01-01T00:00:00.000Z" });
          await stage.world.relate(ids.set0!, "uses", two.to, {
            start_time: "2026-06-01T00:00:00.000Z",
            confidence: 0,
          });
          const both = { from_id: ids.set0, to_id: two.to, relationship_type: "uses" };
          await refusedWithoutTrace(stage, person, "delete_relationship", both, /several relationships/);
          const three = await related(stage);
          const last = await changedBy(stage, person, "delete_relationship", {
            from_id: ids.set0,
            to_id: three.to,
            relationship_type: "uses",
          });
          expect([last.refusal, last.changes]).toEqual(["", [`-${three.id}`]]);
        },
      },
      others("delete_relationship", ({ world }) => ({ relationship_id: world.ids.inside })),
    ],
  },
  {
    tool: "list_sightings",
    cases: [
      {
        about: "has those that the platform shows this person, and nothing of an end that is hidden",
        as: READERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const place = ids.Sector0!;
          const all = await sightingsAt(stage, person, place);
          const questions: readonly (readonly [args: Asked, holds: (node: Node) => boolean])[] = [
            [{ to_id: place }, () => true],
            [{ from_id: ids.malware0, to_id: place }, (node) => node.fromId === ids.malware0],
            [
              { to_id: place, seen_after: "2026-06-01" },
              (node) => (told(node.last_seen) ?? 0) >= Date.parse("2026-06-01"),
            ],
          ];
          for (const [args, holds] of questions) {
            const reading = { tool: "list_sightings", rows: "sightings", args, pageSize: 2 };
            const { rows } = await readWhole(stage, person, reading);
            const expected = all.filter(holds);
            expect(idsOf(rows)).toEqual(idsOf(expected));
            const byId = new Map(expected.map((node) => [node.id, node]));
            for (const row of rows) {
              const node = byId.get(row.id)!;
              sameEnds(row, node, args);
              expect(row.count).toBe(node.attribute_count);
              expect([time(row.first_seen), time(row.last_seen)]).toEqual([
                told(node.first_seen),
                told(node.last_seen),
              ]);
            }
            await askedEnds(stage, person, "list_sightings", args);
          }
        },
      },
      outside("list_sightings", () => ({})),
    ],
  },
  {
    tool: "get_sighting",
    cases: [
      {
        about: "says what the platform says, and nothing of an end or a sighting that is hidden",
        as: READERS,
        async prove(stage, person) {
          const place = stage.world.ids.Sector0!;
          const seen = new Map((await sightingsAt(stage, person, place)).map((node) => [node.id, node]));
          for (const { id } of await sightingsAt(stage, "root", place)) {
            const node = seen.get(id);
            if (node === undefined) {
              await refuses(stage, person, "get_sighting", { sighting_id: id }, /exists or is visible/);
              continue;
            }
            const said = await personOf(stage, person).get<Row>("get_sighting", { sighting_id: id });
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            const row = said.sighting as Row;
            sameEnds(row, node);
            expect([row.count, row.description ?? "", row.confidence ?? 0, said.standard_id]).toEqual([
              node.attribute_count,
              node.description ?? "",
              node.confidence,
              node.standard_id,
            ]);
            expect([time(row.first_seen), time(row.last_seen)]).toEqual([told(node.first_seen), told(node.last_seen)]);
            expect([...((row.markings ?? []) as string[])].sort()).toEqual(markingsOf(node));
          }
        },
      },
      outside("get_sighting", ({ world }) => ({ sighting_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "create_sighting",
    cases: [
      {
        about: "records one as asked, and does not lose the count of one that is there",
        as: WRITERS,
        async prove(stage, person) {
          const from_id = await target(stage);
          const to_id = stage.world.ids.Sector0;
          const args = {
            from_id,
            to_id,
            count: 3,
            first_seen: "2026-03-03",
            last_seen: "2026-03-05",
            description: "mail",
          };
          const { result, refusal } = await changedBy(stage, person, "create_sighting", args);
          expect([refusal, result?.notices ?? []]).toEqual(["", []]);
          const made = result!.sighting as Row;
          expect(await sighting(stage, made.id)).toMatchObject({
            fromId: from_id,
            toId: to_id,
            attribute_count: 3,
            first_seen: "2026-03-03T00:00:00.000Z",
            last_seen: "2026-03-05T00:00:00.000Z",
            description: "mail",
            x_opencti_negative: false,
          });
          const again = { from_id, to_id, count: 1, first_seen: "2026-03-10" };
          await refuses(stage, person, "create_sighting", again, /at the same place and time already exists/);
          expect((await sighting(stage, made.id))!.attribute_count).toBe(3);
        },
      },
      refused(
        "what is hidden is not there",
        "create_sighting",
        ({ world }) => ({ from_id: world.ids.malware4, to_id: world.ids.Sector0 }),
        /visible/,
        ["analyst", "writer"],
      ),
      others("create_sighting", ({ world }) => ({ from_id: world.ids.malware0, to_id: world.ids.Sector0 })),
    ],
  },
  {
    tool: "update_sighting",
    cases: [
      {
        about: "changes what was asked and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await sighted(stage, await target(stage), stage.world.ids.Sector0!, {
            first_seen: "2026-03-03T00:00:00.000Z",
            last_seen: "2026-03-04T00:00:00.000Z",
            description: "before",
          });
          const before = await sighting(stage, id);
          const args = { sighting_id: id, count: 7, last_seen: "2026-03-09" };
          const { result, refusal, changes } = await changedBy(stage, person, "update_sighting", args);
          expect([refusal, changes, result?.notices ?? []]).toEqual(["", [], []]);
          const { standard_id: _, ...after } = (await sighting(stage, id))!;
          const { standard_id: __, ...expected } = before!;
          expect(after).toEqual({ ...expected, attribute_count: 7, last_seen: "2026-03-09T00:00:00.000Z" });
        },
      },
      {
        about: "is refused to who may not write, and changes nothing",
        as: [...ONLY_READERS, ...OUTSIDE],
        async prove(stage, person) {
          const id = await sighted(stage, await target(stage), stage.world.ids.Sector0!);
          await refusedWithoutTrace(stage, person, "update_sighting", { sighting_id: id, count: 7 });
          expect((await sighting(stage, id))!.attribute_count).toBe(1);
        },
      },
    ],
  },
  {
    tool: "delete_sighting",
    cases: [
      {
        about: "takes one away, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const from = await target(stage);
          const id = await sighted(stage, from, stage.world.ids.Sector0!);
          const { refusal, changes } = await changedBy(stage, person, "delete_sighting", { sighting_id: id });
          expect([refusal, changes]).toEqual(["", []]);
          expect(await sighting(stage, id)).toBeUndefined();
          await refuses(stage, person, "delete_sighting", { sighting_id: id }, /visible/);
        },
      },
      {
        about: "is refused to who may not write, and takes nothing away",
        as: [...ONLY_READERS, ...OUTSIDE],
        async prove(stage, person) {
          const id = await sighted(stage, await target(stage), stage.world.ids.Sector0!);
          await refuses(stage, person, "delete_sighting", { sighting_id: id });
          expect(await sighting(stage, id)).toBeDefined();
        },
      },
    ],
  },
];
