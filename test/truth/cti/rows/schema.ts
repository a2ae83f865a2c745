import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import { personOf, refuses, type Stage } from "../stage.js";
import { READERS } from "../world.js";

interface Rule {
  readonly type: string;
  readonly other_types?: readonly string[];
}

const stranger = (tool: string, args: object) => ({
  about: "is refused without an account",
  as: ["stranger"],
  prove: (stage: Stage, person: string) => refuses(stage, person, tool, args),
});

/** Tools that say what can be said. */
export const schemaTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_relationship_types",
    cases: [
      {
        about: "has what the platform allows between types",
        as: [...READERS, "nobody"],
        async prove(stage, person) {
          const { rules: mapping } = await stage.platform.need(
            person,
            "{ rules: schemaRelationsTypesMapping { key values } }",
          );
          const allowed = new Map<string, string[]>(
            mapping.map(({ key, values }: { key: string; values: string[] }) => [key, values]),
          );
          const ask = async (args: object) =>
            (await personOf(stage, person).get<{ rules: Rule[] }>("list_relationship_types", args)).rules;
          for (const [from_type, to_type] of [
            ["Intrusion-Set", "Malware"],
            ["Indicator", "Malware"],
            ["Country", "Malware"],
          ]) {
            const types = (await ask({ from_type, to_type })).map(({ type }) => type);
            expect(types).toEqual(
              [...new Set(["related-to", ...(allowed.get(`${from_type}_${to_type}`) ?? [])])].sort(),
            );
          }
          const uses = (await ask({ from_type: "Intrusion-Set" })).find(({ type }) => type === "uses");
          const expected = [...allowed].flatMap(([key, values]) =>
            key.startsWith("Intrusion-Set_") && values.includes("uses") ? [key.slice("Intrusion-Set_".length)] : [],
          );
          expect(uses?.other_types).toEqual(expected.sort());
        },
      },
      stranger("list_relationship_types", { from_type: "Malware" }),
    ],
  },
  {
    tool: "list_filter_keys",
    cases: [
      {
        about: "has the platform's own attributes of a type",
        as: [...READERS, "nobody"],
        async prove(stage, person) {
          const { keys } = await stage.platform.need(
            person,
            "{ keys: filterKeysSchema { entity_type filters_schema { filterKey } } }",
          );
          const own = keys.find(({ entity_type }: { entity_type: string }) => entity_type === "Malware").filters_schema;
          const told = await personOf(stage, person).get<{ keys: { name: string }[] }>("list_filter_keys", {
            type: "Malware",
          });
          expect(told.keys.map(({ name }) => name)).toEqual(
            own.map(({ filterKey }: { filterKey: string }) => filterKey).sort(),
          );
        },
      },
      stranger("list_filter_keys", { type: "Malware" }),
    ],
  },
];
