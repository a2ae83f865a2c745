import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { labelsOf, markingsOf } from "../seen.js";
import { personOf, type Stage } from "../stage.js";
import { ONLY_READERS, OUTSIDE, WRITERS } from "../world.js";
import { changedBy, fresh, object, others, refused, refusedWithoutTrace, target } from "./changed.js";

let count = 0;

/** Tools that write entities, observables and relationships. */
export const entityWriteTruths: readonly Truth<Stage>[] = [
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
        /already has this name|does not let you/,
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
          expect(changes.toSorted()).toEqual([`${id}.aliases`, `${id}.representative.secondary`]);
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
      {
        about: "takes other names off and leaves the rest, down to none",
        as: WRITERS,
        async prove(stage, person) {
          const [a, b, c] = [fresh(stage, "A"), fresh(stage, "B"), fresh(stage, "C")];
          const id = await target(stage, { aliases: [a, b] });
          const aliases = async () => {
            const query = "query($id: String!) { one: malware(id: $id) { aliases } }";
            return ((await stage.platform.need("root", query, { id })).one.aliases ?? []) as string[];
          };
          await personOf(stage, person).get("update_entity", { object_id: id, remove_aliases: [a], add_aliases: [c] });
          expect(await aliases()).toEqual([b, c]);
          await personOf(stage, person).get("update_entity", { object_id: id, remove_aliases: [b, c] });
          expect(await aliases()).toEqual([]);
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
        /already has the observable/,
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
            /already exists/,
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
