import { appendFileSync } from "node:fs";
import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { personOf, type Stage } from "../stage.js";

/** Bounds of docs/answer-sizes.md, in bytes. */
const MEDIAN = 250;
const MOST = 500;
const PAGE = 10_240;

type Ids = Readonly<Record<string, string>>;
type List = readonly [tool: string, rows: string, args?: (ids: Ids, run: string) => object];

const LISTS: readonly List[] = [
  ["search_all", "objects", (_, query) => ({ query })],
  ["search_entities", "entities", () => ({ types: ["Malware", "Intrusion-Set"] })],
  ["list_observables", "observables"],
  ["list_indicators", "indicators"],
  ["find_entity_by_name", "entities", (_, run) => ({ name: `Set 1 ${run}` })],
  ["list_threat_actors", "threat_actors"],
  ["list_intrusion_sets", "intrusion_sets"],
  ["list_campaigns", "campaigns"],
  ["list_malware", "malware"],
  ["list_tools", "tools"],
  ["list_attack_patterns", "attack_patterns"],
  ["list_incidents", "incidents"],
  ["list_identities", "identities"],
  ["list_locations", "locations"],
  ["list_infrastructures", "infrastructures"],
  ["list_courses_of_action", "courses_of_action"],
  ["list_vulnerabilities", "vulnerabilities"],
  ["list_containers", "containers"],
  ["list_reports", "reports"],
  ["list_groupings", "groupings"],
  ["list_cases", "cases"],
  ["list_tasks", "tasks"],
  ["list_container_objects", "objects", ({ report0 }) => ({ container_id: report0 })],
  ["list_entity_containers", "containers", ({ set0 }) => ({ object_id: set0 })],
  ["list_entity_notes", "notes", ({ report0 }) => ({ object_id: report0 })],
  ["list_entity_external_references", "references", ({ malware0 }) => ({ object_id: malware0 })],
  ["list_entity_indicators", "indicators", ({ domain0 }) => ({ object_id: domain0 })],
  ["list_entity_ttps", "ttps", ({ set0 }) => ({ object_id: set0 })],
  ["list_entity_changes", "entries", ({ set0 }) => ({ object_id: set0 })],
  ["list_entity_relationships", "relationships", ({ set0 }) => ({ object_id: set0 })],
  ["list_relationships", "relationships"],
  ["list_sightings", "sightings", ({ Sector0 }) => ({ to_id: Sector0 })],
  ["list_recent_changes", "changes"],
  ["list_labels", "labels"],
  ["list_markings", "markings"],
  ["list_vocabulary_values", "words", () => ({ vocabulary: "case_priority_ov" })],
  ["list_kill_chain_phases", "phases"],
];

/** Rows of two ends and a period are longer, as test/answers/answer-sizes.test.ts says. */
const LONGER = ["list_relationships", "list_entity_relationships"];

/** Every name that a run makes ends in one word more than names have. */
const WORD_OF_RUN = / t[0-9a-z]{8}x\b/g;

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value).replace(WORD_OF_RUN, ""));
const at = (sizes: readonly number[], part: number) => sizes[Math.floor((sizes.length - 1) * part)] ?? 0;

/** Adds what was measured to the file that TRUTH_SIZES names, where it names one. */
function note(tool: string, person: string, sizes: readonly number[], page: number): void {
  const file = process.env.TRUTH_SIZES;
  const numbers = [sizes.length, at(sizes, 0.5), at(sizes, 0.95), page].join(" | ");
  if (file) appendFileSync(file, `| \`${tool}\` | ${person} | ${numbers} |\n`);
}

/** How much a model is given to read. */
export const sizeTruths: readonly Truth<Stage>[] = LISTS.map(([tool, rows, argsOf]) => ({
  tool,
  cases: [
    {
      about: "rows and the first page are no larger than they may be",
      as: ["administrator", "reader"],
      async prove(stage, person) {
        const args = argsOf?.(stage.world.ids, stage.world.run) ?? {};
        const page = bytes(await personOf(stage, person).get(tool, args));
        const paged = tool === "find_entity_by_name" ? args : { ...args, page_size: 100 };
        const said = await personOf(stage, person).get(tool, paged);
        const sizes = ((said[rows] ?? []) as Row[]).map(bytes).sort((a, b) => a - b);
        note(tool, person, sizes, page);
        expect(page).toBeLessThan(PAGE);
        expect(at(sizes, 0.5)).toBeLessThanOrEqual(LONGER.includes(tool) ? MOST : MEDIAN);
        expect(at(sizes, 0.95)).toBeLessThanOrEqual(MOST);
      },
    },
  ],
}));
