import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { markingsOf } from "../seen.js";
import { personOf, readWhole, type Stage, seenBy } from "../stage.js";
import { READERS, WRITERS } from "../world.js";
import { changedBy, fresh, object, others, refused, refusedWithoutTrace, target } from "./changed.js";
import { idsOf, outside } from "./reading.js";

/** The references of an object, as a person sees them at the platform. */
async function referencesOf({ platform }: Stage, person: string, id: string): Promise<Row[]> {
  const query =
    "query($id: String!) { one: stixCoreObject(id: $id) { externalReferences(first: 500) { edges { node { id source_name url external_id description } } } } }";
  const { data } = await platform.call(person, query, { id });
  return (data?.one?.externalReferences.edges ?? []).map((edge: { node: Row }) => edge.node);
}

const note = (stage: Stage, more: object = {}) =>
  stage.world.make("Note", {
    content: fresh(stage, "About"),
    objects: [stage.world.ids.malware0],
    confidence: 0,
    ...more,
  });

/** Tools of notes, opinions, references and of markings that are taken off. */
export const remarkTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_entity_notes",
    cases: [
      {
        about: "lists the notes on an object that this person sees, over all pages",
        as: READERS,
        async prove(stage, person) {
          const id = stage.world.ids.report0!;
          const seen = seenBy(stage, person);
          const expected = [];
          for (const one of (await seen.objects()).filter(({ entity_type }) => entity_type === "Note"))
            if ((await seen.contents(one.id))?.some((inside) => inside.id === id)) expected.push(one);
          const { rows } = await readWhole(stage, person, {
            tool: "list_entity_notes",
            rows: "notes",
            args: { object_id: id },
            pageSize: 2,
          });
          expect(idsOf(rows)).toEqual(idsOf(expected));
          for (const row of rows) {
            const node = expected.find((one) => one.id === row.id)!;
            expect([row.abstract ?? null, row.likelihood ?? null]).toEqual([node.attribute_abstract, node.likelihood]);
            expect(node.note.startsWith(String(row.content).replace(/…$/, ""))).toBe(true);
            expect([...((row.markings ?? []) as string[])].sort()).toEqual(markingsOf(node));
          }
        },
      },
      outside("list_entity_notes", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "update_note",
    cases: [
      {
        about: "changes what is given of a note, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await note(stage);
          const { refusal, changes, after } = await changedBy(stage, person, "update_note", {
            note_id: id,
            content: "Changed.",
            note_types: ["Analysis"],
            likelihood: 40,
          });
          expect(refusal).toBe("");
          expect(changes.filter((one) => !one.includes(".representative"))).toEqual([
            `${id}.likelihood`,
            `${id}.note`,
            `${id}.note_types`,
          ]);
          expect(after.get(id)).toMatchObject({ note: "Changed.", note_types: ["analysis"], likelihood: 40 });
        },
      },
      refused(
        "what is no note is refused",
        "update_note",
        ({ world }) => ({ note_id: world.ids.malware0, content: "no note" }),
        /is not a note/,
      ),
      others("update_note", ({ world }) => ({ note_id: world.ids.note0, content: "no" })),
    ],
  },
  {
    tool: "delete_note",
    cases: [
      {
        about: "deletes a note, and nothing else",
        as: ["administrator", "analyst"],
        async prove(stage, person) {
          const id = await note(stage);
          const { refusal, changes } = await changedBy(stage, person, "delete_note", { note_id: id });
          expect([refusal, changes]).toEqual(["", [`-${id}`]]);
        },
      },
      {
        about: "is refused to who may write and neither delete nor take part",
        as: ["writer"],
        async prove(stage, person) {
          const id = await note(stage);
          await refusedWithoutTrace(stage, person, "delete_note", { note_id: id }, /right/);
        },
      },
      others("delete_note", ({ world }) => ({ note_id: world.ids.note0 })),
    ],
  },
  {
    tool: "create_opinion",
    cases: [
      {
        about: "writes one opinion on what was asked",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const { result, refusal, changes, after } = await changedBy(stage, person, "create_opinion", {
            object_ids: [ids.malware0, ids.set0],
            opinion: "Agree",
            explanation: "Because.",
          });
          expect(refusal).toBe("");
          const made = object(result);
          expect(changes).toContain(`+${made.id}`);
          const rest = changes.filter((one) => one !== `+${made.id}`);
          for (const one of rest) expect(after.get(one.slice(1))).toMatchObject({ entity_type: "Individual" });
          expect(after.get(made.id)).toMatchObject({ opinion: "agree", explanation: "Because." });
          expect((await seenBy(stage, "root").contents(made.id))!.map((one) => one.id).sort()).toEqual(
            [ids.malware0, ids.set0].sort(),
          );
        },
      },
      refused(
        "a word that is no opinion is refused",
        "create_opinion",
        ({ world }) => ({ object_ids: [world.ids.malware0], opinion: "maybe" }),
        /not one of/,
      ),
      others("create_opinion", ({ world }) => ({ object_ids: [world.ids.malware0], opinion: "agree" })),
    ],
  },
  {
    tool: "list_entity_external_references",
    cases: [
      {
        about: "lists the references of an object, over all pages",
        as: READERS,
        async prove(stage, person) {
          const id = await target(stage);
          for (let i = 0; i < 5; i++)
            await personOf(stage, "administrator").get("add_external_reference", {
              object_id: id,
              source_name: `Source ${5 - i}`,
              external_id: fresh(stage, "R"),
            });
          const { rows } = await readWhole(stage, person, {
            tool: "list_entity_external_references",
            rows: "references",
            args: { object_id: id },
            pageSize: 2,
          });
          const expected = await referencesOf(stage, person, id);
          expect(expected.length).toBe(5);
          expect(idsOf(rows)).toEqual(idsOf(expected));
          expect(rows.map((row) => row.source_name)).toEqual([1, 2, 3, 4, 5].map((i) => `Source ${i}`));
        },
      },
      outside("list_entity_external_references", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "add_external_reference",
    cases: [
      {
        about: "attaches a new one, and one that is there as it stands",
        as: WRITERS,
        async prove(stage, person) {
          const [one, two] = [await target(stage), await target(stage)];
          const url = `https://source.example/${encodeURIComponent(fresh(stage, "a"))}`;
          const me = personOf(stage, person);
          const made = await changedBy(stage, person, "add_external_reference", {
            object_id: one,
            source_name: "First",
            url,
            description: "As it stands.",
          });
          expect([made.refusal, made.changes]).toEqual(["", []]);
          expect(made.result).toMatchObject({ created: true });
          const same = await me.get("add_external_reference", { object_id: two, source_name: "Second", url });
          expect(same).toMatchObject({ reference: { source_name: "First", description: "As it stands." } });
          for (const id of [one, two])
            expect(await referencesOf(stage, "root", id)).toMatchObject([
              { source_name: "First", url, description: "As it stands." },
            ]);
          const again = await me.get("add_external_reference", { object_id: two, source_name: "Third", url });
          expect(again).toMatchObject({ already_attached: true });
        },
      },
      others("add_external_reference", (stage) => ({
        object_id: stage.world.ids.malware0,
        source_name: "No",
        external_id: fresh(stage, "R"),
      })),
    ],
  },
  {
    tool: "remove_external_reference",
    cases: [
      {
        about: "detaches one, and says where it was not there",
        as: WRITERS,
        async prove(stage, person) {
          const id = await target(stage, { externalReferences: [stage.world.ids.reference] });
          const args = { object_id: id, external_reference_id: stage.world.ids.reference };
          const { refusal, changes, result } = await changedBy(stage, person, "remove_external_reference", args);
          expect([refusal, changes]).toEqual(["", []]);
          expect(result).toMatchObject({ removed: true });
          expect(await referencesOf(stage, "root", id)).toEqual([]);
          expect((await personOf(stage, person).get("remove_external_reference", args)).removed ?? false).toBe(false);
        },
      },
      others("remove_external_reference", ({ world }) => ({
        object_id: world.ids.malware0,
        external_reference_id: world.ids.reference,
      })),
    ],
  },
  {
    tool: "remove_markings",
    cases: [
      {
        about: "takes a marking off, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await target(stage, stage.world.marked("TLP:GREEN"));
          const { refusal, changes, after, result } = await changedBy(stage, person, "remove_markings", {
            object_id: id,
            markings: ["tlp:green", "TLP:CLEAR"],
          });
          expect([refusal, changes]).toEqual(["", [`${id}.objectMarking`]]);
          expect(markingsOf(after.get(id) as never)).toEqual([]);
          expect(JSON.stringify(result)).toContain("the object did not have TLP:CLEAR");
        },
      },
      refused(
        "a marking above one's clearance is refused",
        "remove_markings",
        ({ world }) => ({ object_id: world.ids.malware0, markings: ["TLP:RED"] }),
        /not cleared|does not exist/,
        ["analyst", "writer"],
      ),
      others("remove_markings", ({ world }) => ({ object_id: world.ids.malware1, markings: ["TLP:GREEN"] })),
    ],
  },
];
