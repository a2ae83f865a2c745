import { expect } from "vitest";
import { changesBetween, type Standing } from "../../frame/changes.js";
import type { Row } from "../../frame/pages.js";
import type { Case, Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { labelsOf, markingsOf } from "../seen.js";
import { personOf, refuses, type Stage, seenBy } from "../stage.js";
import { ONLY_READERS, OUTSIDE, WRITERS } from "../world.js";

/** Changes by itself with every write. */
const BY_ITSELF = ["updated_at", "standard_id"];

/** Everything that a tool of cti could write, as the platform's administrator sees it. */
async function standing(stage: Stage): Promise<Standing> {
  const root = seenBy(stage, "root");
  const { labels } = await stage.platform.need("root", "{ labels(first: 500) { edges { node { id value } } } }");
  const standing = new Map<string, unknown>(await stage.everything.now());
  for (const { node } of labels.edges) standing.set(node.id, node);
  for (const key of ["report0", "many"]) {
    const id = stage.world.ids[key]!;
    standing.set(`contents of ${id}`, (await root.contents(id))!.map((one) => one.id).sort());
  }
  return standing;
}

/** What a call changed, and what it said. */
async function changedBy(stage: Stage, person: string, tool: string, args: object) {
  const before = await standing(stage);
  const said = await personOf(stage, person).ask(tool, args);
  const after = await standing(stage);
  return { ...said, changes: changesBetween(before, after, BY_ITSELF), after };
}

/** Proves that a call is refused and changes nothing at all. */
async function refusedWithoutTrace(
  stage: Stage,
  person: string,
  tool: string,
  args: object,
  words = /./,
): Promise<void> {
  const before = await standing(stage);
  await refuses(stage, person, tool, args, words);
  expect(changesBetween(before, await standing(stage), BY_ITSELF)).toEqual([]);
}

type Args = (stage: Stage, person: string) => object;

const others = (tool: string, args: Args, as: readonly string[] = [...ONLY_READERS, ...OUTSIDE]): Case<Stage> => ({
  about: "is refused to who may not write, and changes nothing",
  as,
  prove: (stage, person) => refusedWithoutTrace(stage, person, tool, args(stage, person)),
});

const refused = (
  about: string,
  tool: string,
  args: Args,
  words: RegExp,
  as: readonly string[] = WRITERS,
): Case<Stage> => ({
  about,
  as,
  prove: (stage, person) => refusedWithoutTrace(stage, person, tool, args(stage, person), words),
});

let count = 0;
const fresh = ({ world }: Stage, what: string) => `${what} ${++count} ${world.run}`;
const object = (result: unknown) => (result as { result: { object: Row } }).result.object;

/** An object that everybody may change: without marking and confidence. */
const target = (stage: Stage, more: object = {}) =>
  stage.world.make("Malware", { name: fresh(stage, "Target"), confidence: 0, ...more });

/** Tools that write. */
export const writeTruths: readonly Truth<Stage>[] = [
  {
    tool: "create_entity",
    cases: [
      {
        about: "makes one object as asked, and changes nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const { run, ids } = stage.world;
          const args = {
            type: "Malware",
            name: `  ${fresh(stage, "Made")} `,
            description: "what it is",
            aliases: [` ${fresh(stage, "Other")} `],
            refs: {
              labels: [`LABEL ${run}`],
              markings: ["TLP:GREEN"],
              author: `Author ${run}`,
              external_reference_ids: [ids.reference],
              confidence: 30,
            },
          };
          const { result, refusal, changes, after } = await changedBy(stage, person, "create_entity", args);
          expect(refusal).toBe("");
          const made = object(result);
          expect(changes).toEqual([`+${made.id}`]);
          const direct = after.get(made.id) as Node;
          expect(made.name).toBe(args.name.trim());
          expect(direct.representative.main).toBe(made.name);
          expect([markingsOf(direct), labelsOf(direct), direct.confidence]).toEqual([
            ["TLP:GREEN"],
            [`label ${run}`],
            30,
          ]);
          const { one } = await stage.platform.need(
            "root",
            "query($id: String!) { one: malware(id: $id) { aliases externalReferences { edges { node { id } } } } }",
            { id: made.id },
          );
          expect(one.aliases).toEqual([args.aliases[0]!.trim()]);
          expect(one.externalReferences.edges[0].node.id).toBe(ids.reference);
        },
      },
      refused(
        "a name or alias that is there already is told with its id, and nothing is overwritten",
        "create_entity",
        ({ world }) => ({ type: "Intrusion-Set", name: `alias 1 ${world.run}`.toUpperCase() }),
        /bears this name|does not let you/,
      ),
      refused(
        "a marking above one's clearance is refused",
        "create_entity",
        (stage) => ({ type: "Malware", name: fresh(stage, "Red"), refs: { markings: ["TLP:RED"] } }),
        /not cleared|does not exist/,
        ["analyst", "writer"],
      ),
      refused(
        "an unknown label is refused",
        "create_entity",
        (stage) => ({ type: "Malware", name: fresh(stage, "Unlabelled"), refs: { labels: ["nothing is called so"] } }),
        /no label/,
      ),
      others("create_entity", (stage) => ({ type: "Malware", name: fresh(stage, "Not made") })),
    ],
  },
  {
    tool: "update_entity",
    cases: [
      {
        about: "changes what was asked and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await target(stage, { description: "before", aliases: [fresh(stage, "Stays")] });
          const alias = fresh(stage, "Added");
          const { refusal, changes } = await changedBy(stage, person, "update_entity", {
            object_id: id,
            description: "after",
            add_aliases: [` ${alias} `],
          });
          expect(refusal).toBe("");
          expect(changes).toEqual([`${id}.representative.secondary`]);
          const { one } = await stage.platform.need(
            "root",
            "query($id: String!) { one: malware(id: $id) { aliases description } }",
            { id },
          );
          expect(one.description).toBe("after");
          expect(one.aliases).toHaveLength(2);
          expect(one.aliases).toContain(alias);
        },
      },
      refused(
        "an object of higher confidence than one's own is not changed",
        "update_entity",
        ({ world }) => ({ object_id: world.ids.malware3, description: "no" }),
        /confidence/,
        ["writer"],
      ),
      refused(
        "a hidden object is not there",
        "update_entity",
        ({ world }) => ({ object_id: world.ids.malware4, description: "no" }),
        /visible/,
        ["analyst", "writer"],
      ),
      others("update_entity", ({ world }) => ({ object_id: world.ids.malware0, description: "no" })),
    ],
  },
  {
    tool: "delete_entity",
    cases: [
      {
        about: "takes one object away, and nothing else",
        as: ["administrator", "analyst"],
        async prove(stage, person) {
          const id = await target(stage);
          const { refusal, changes } = await changedBy(stage, person, "delete_entity", { object_id: id });
          expect(refusal).toBe("");
          expect(changes).toEqual([`-${id}`]);
        },
      },
      others("delete_entity", ({ world }) => ({ object_id: world.ids.malware0 }), [
        "writer",
        ...ONLY_READERS,
        ...OUTSIDE,
      ]),
    ],
  },
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
        /exists already/,
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
          const { result, refusal, changes } = await changedBy(stage, person, "create_note", args);
          expect(refusal).toBe("");
          const made = object(result);
          expect(changes).toEqual([`+${made.id}`]);
          expect((await seenBy(stage, "root").contents(made.id))!.map((one) => one.id).sort()).toEqual(
            [...args.object_ids].sort(),
          );
          expect((result!.result as { notices?: string[] }).notices ?? []).toEqual([]);
        },
      },
      others("create_note", ({ world }) => ({ object_ids: [world.ids.malware0], content: "no" })),
    ],
  },
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
  {
    tool: "create_observable",
    cases: [
      {
        about: "makes one as asked, refanged, and says so where it was",
        as: WRITERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const value = `new-${++count}.${run}.example`;
          const { result, refusal, changes, after } = await changedBy(stage, person, "create_observable", {
            type: "Domain-Name",
            value: ` ${value.replaceAll(".", "[.]")} `,
            score: 42,
          });
          expect(refusal).toBe("");
          const made = result!.observable as Row;
          expect(changes).toEqual([`+${made.id}`]);
          expect(after.get(made.id)).toMatchObject({
            observable_value: value,
            x_opencti_score: 42,
            entity_type: "Domain-Name",
          });
          expect((result!.notices as string[]).join()).toContain("refanged");
          const plain = await personOf(stage, person).get<{ notices?: string[] }>("create_observable", {
            type: "Text",
            value: `  text ${++count} ${run} `,
          });
          expect(plain.notices ?? []).toEqual([]);
        },
      },
      refused(
        "what is known is told, not overwritten",
        "create_observable",
        ({ world }) => ({ type: "Domain-Name", value: `C2-0.${world.run}.example`, score: 1 }),
        /knows .* already/,
      ),
      refused(
        "what is known to others is not overwritten either",
        "create_observable",
        ({ world }) => ({ type: "Domain-Name", value: `c2-4.${world.run}.example` }),
        /does not let you/,
        ["analyst", "writer"],
      ),
      others("create_observable", ({ world }) => ({ type: "Text", value: `not made ${world.run}` })),
    ],
  },
  {
    tool: "promote_observable_to_indicator",
    cases: [
      {
        about: "makes one indicator, and the same again",
        as: WRITERS,
        async prove(stage, person) {
          const id = await stage.world.observe("Domain-Name", {
            value: `promoted-${++count}.${stage.world.run}.example`,
          });
          const { result, refusal, changes } = await changedBy(stage, person, "promote_observable_to_indicator", {
            observable_id: id,
          });
          expect(refusal).toBe("");
          const made = result!.indicator as Row;
          expect(result!.created).toBe(true);
          expect(changes.filter((one) => one.startsWith("+"))).toContain(`+${made.id}`);
          // The relationship between the two comes with it.
          expect(changes).toHaveLength(2);
          const again = await personOf(stage, person).get<{ indicator: Row; created?: boolean }>(
            "promote_observable_to_indicator",
            { observable_id: id },
          );
          expect([again.indicator.id, again.created ?? false]).toEqual([made.id, false]);
        },
      },
      others("promote_observable_to_indicator", ({ world }) => ({ observable_id: world.ids.domain5 })),
    ],
  },
  {
    tool: "create_relationship",
    cases: [
      {
        about: "makes one, and tells the same one the second time",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const id = await target(stage);
          const args = {
            from_id: ids.set0,
            to_id: id,
            relationship_type: "uses",
            start_time: "2026-02-02",
            refs: { external_reference_ids: [ids.reference] },
          };
          const { result, refusal, changes, after } = await changedBy(stage, person, "create_relationship", args);
          expect(refusal).toBe("");
          const made = result!.relationship as Row;
          expect(changes).toEqual([`+${made.id}`]);
          expect(after.get(made.id)).toMatchObject({
            fromId: ids.set0,
            toId: id,
            relationship_type: "uses",
            start_time: "2026-02-02T00:00:00.000Z",
          });
          await refusedWithoutTrace(
            stage,
            person,
            "create_relationship",
            { ...args, start_time: "2026-02-20" },
            /exists already/,
          );
        },
      },
      refused(
        "an end that is hidden is not there",
        "create_relationship",
        ({ world }) => ({ from_id: world.ids.set0, to_id: world.ids.malware4, relationship_type: "uses" }),
        /visible/,
        ["analyst", "writer"],
      ),
      refused(
        "a type that is not allowed between the two is refused",
        "create_relationship",
        ({ world }) => ({ from_id: world.ids.malware0, to_id: world.ids.set0, relationship_type: "attributed-to" }),
        /./,
      ),
      others("create_relationship", ({ world }) => ({
        from_id: world.ids.set0,
        to_id: world.ids.technique,
        relationship_type: "uses",
      })),
    ],
  },
];
