import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { answerSizesPage, grown, PAGE, sizesOf } from "../../scripts/answer-sizes.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { type Measured, measure } from "./measure.js";
import { isList, QUESTIONS } from "./questions.js";

const MEDIAN_BYTES = 250;
const P95_BYTES = 500;
const PAGE_BYTES = 10 * 1024;

/** Tools whose rows are longer, and why. */
const LONGER: Readonly<Record<string, string>> = {
  lookup_ioc: "its one row is all that is known of a value: the indicators and reports that bear it",
  list_sightings:
    "a row has two ends, each with its id, type and name, and two times; by one end it is below 250 bytes",
  list_relationships: "a row has two ends, each with its id, type and name, and the period in which it holds",
  list_entity_relationships: "a row has its other end, with id, type and name, and the period in which it holds",
  list_agents: "an agent is chosen by its description",
  list_skills: "a skill is chosen by its description",
  list_assignments: "an assignment is told by its agent, its schedule and when it is due next",
  list_runs: "a run is told by its agent, its times and what it used",
  list_run_steps: "a step shows what was called, with the beginning of what was sent and answered",
  search_knowledge: "a row is a passage to be read and cited, with its place",
  inspect_agent_traces:
    "a row previews the first question and the last answer, 200 characters each unless told otherwise",
};

let measured: readonly Measured[];
beforeAll(async () => {
  measured = await measure();
});

const over = (bytes: (one: Measured) => number, most: number, exceptions: object = {}): string[] =>
  measured.flatMap((one) => (bytes(one) > most && !(one.tool in exceptions) ? [`${one.tool}: ${bytes(one)}`] : []));

test("every tool that gives a list is measured", () => {
  const lists = readTools(readImage()).filter(isList);
  const asked = new Set(QUESTIONS.map(({ server, tool }) => `${server} ${tool}`));
  // A search of documents gives content blocks.
  const unasked = lists.filter(({ server, name }) => !asked.has(`${server} ${name}`));
  expect(unasked.map(({ name }) => name)).toEqual([]);
  expect(lists.length).toBeGreaterThan(25);
});

test("rows are 250 bytes at the median and 500 at the 95th percentile, and exceptions are ones", () => {
  expect(over((one) => sizesOf(one).median, MEDIAN_BYTES, LONGER)).toEqual([]);
  expect(over((one) => sizesOf(one).p95, P95_BYTES, LONGER)).toEqual([]);
  const isLonger = over((one) => sizesOf(one).median, MEDIAN_BYTES).map((said) => said.split(":")[0]);
  expect(isLonger.sort()).toEqual(Object.keys(LONGER).sort());
});

test("rows of the built-in platforms, which are longer named than recorded ones, stay below 500 bytes too", () => {
  const longest = (one: Measured) => Math.max(0, ...one.builtIn);
  expect(over(longest, P95_BYTES, LONGER)).toEqual([]);
});

test("a default page is below 10 KB", () => {
  expect(over(({ page }) => page, PAGE_BYTES)).toEqual([]);
});

test("no row is without the id that the next step takes", () => {
  const withoutIds = [
    "list_entity_types",
    "list_relationship_types",
    "list_vocabulary_values",
    "list_filter_keys",
    "list_recent_changes",
    "list_entity_changes",
    "get_simulation_results",
    "inspect_simulation_comparison",
    "list_assessment_differences",
    "list_maturity_levels",
    "list_run_steps",
    "search_knowledge",
  ];
  expect(measured.filter(({ ids, tool }) => !ids && !withoutIds.includes(tool)).map(({ tool }) => tool)).toEqual([]);
});

describe(PAGE, () => {
  test("has a number for each, and none has grown (npm run docs)", () => {
    const page = readFileSync(PAGE, "utf8");
    expect(grown(measured, page)).toEqual([]);
    expect(page).toBe(answerSizesPage(measured));
  });

  test("shows what has grown", () => {
    const [first] = measured as [Measured];
    const longer = { ...first, recorded: first.recorded.map((bytes) => bytes + 1) };
    expect(grown([longer], answerSizesPage(measured))).toHaveLength(2);
  });
});
