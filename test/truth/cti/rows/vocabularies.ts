import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { personOf, readWhole, type Stage } from "../stage.js";
import { READERS } from "../world.js";
import { idsOf, outside } from "./reading.js";

/** What the platform lists to a person, all on one page. */
async function listed({ platform }: Stage, person: string, field: string, fields: string, args = ""): Promise<Row[]> {
  const data = await platform.need(person, `{ list: ${field}(first: 4000${args}) { edges { node { ${fields} } } } }`);
  return data.list.edges.map((edge: { node: Row }) => edge.node);
}

/** Tools that list the words of the platform. */
export const vocabularyTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_labels",
    cases: [
      {
        about: "lists every label once, by value",
        as: READERS,
        async prove(stage, person) {
          const expected = await listed(stage, person, "labels", "id value");
          const { rows } = await readWhole(stage, person, { tool: "list_labels", rows: "labels", pageSize: 50 });
          expect(idsOf(rows)).toEqual(idsOf(expected));
          const part = stage.world.run.slice(2);
          const some = await readWhole(stage, person, { tool: "list_labels", rows: "labels", args: { query: part } });
          expect(idsOf(some.rows)).toEqual(idsOf(expected.filter(({ value }) => String(value).includes(part))));
        },
      },
      outside("list_labels", () => ({})),
    ],
  },
  {
    tool: "list_markings",
    cases: [
      {
        about: "lists every marking, and those that this person may set",
        as: READERS,
        async prove(stage, person) {
          const expected = await listed(stage, person, "markingDefinitions", "id definition");
          const { me } = await stage.platform.need(person, "{ me { allowed_marking { id } } }");
          const { rows } = await readWhole(stage, person, { tool: "list_markings", rows: "markings", pageSize: 3 });
          expect(idsOf(rows)).toEqual(idsOf(expected));
          expect(idsOf(rows.filter(({ allowed }) => allowed === true))).toEqual(idsOf(me.allowed_marking));
        },
      },
      outside("list_markings", () => ({})),
    ],
  },
  {
    tool: "list_vocabulary_values",
    cases: [
      {
        about: "lists the words of a vocabulary in the platform's order",
        as: READERS,
        async prove(stage, person) {
          for (const vocabulary of ["case_severity_ov", "case_priority_ov", "report_types_ov", "opinion_ov"]) {
            const expected = await listed(stage, person, "vocabularies", "id name", `, category: ${vocabulary}`);
            const said = await personOf(stage, person).get<{ words?: { name: string }[]; total_size: number }>(
              "list_vocabulary_values",
              { vocabulary, page_size: 100 },
            );
            const rows = said.words ?? [];
            expect(said.total_size).toBe(expected.length);
            expect([vocabulary, rows.map(({ name }) => name)]).toEqual([vocabulary, expected.map(({ name }) => name)]);
          }
        },
      },
      outside("list_vocabulary_values", () => ({ vocabulary: "case_severity_ov" })),
    ],
  },
  {
    tool: "list_kill_chain_phases",
    cases: [
      {
        about: "lists every phase once",
        as: READERS,
        async prove(stage, person) {
          const expected = await listed(stage, person, "killChainPhases", "id");
          const { rows } = await readWhole(stage, person, {
            tool: "list_kill_chain_phases",
            rows: "phases",
            pageSize: 3,
          });
          expect(idsOf(rows)).toEqual(idsOf(expected));
        },
      },
      outside("list_kill_chain_phases", () => ({})),
    ],
  },
];
