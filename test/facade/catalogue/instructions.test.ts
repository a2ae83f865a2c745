import { expect, test } from "vitest";
import { instructionsOf, MAX_INSTRUCTIONS } from "../../../facade/catalogue/instructions.js";
import { CORE, PLATFORMS, SERVERS } from "../../../services/shared/platforms.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../../services/shared/tools/tools.js";

const ALL = readTools(readImage());
const toolsOf = (server: string): Tool[] => ALL.filter((tool) => tool.server === server);

/** Words of a text that can only be names: of tools, arguments and members. */
const namesIn = (text: string): string[] => text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];

/** Names that a set of tools gives a meaning to. */
function known(tools: readonly Tool[]): Set<string> {
  const fields = tools.flatMap(({ method, result }) => [...method.input.fields, ...result.fields]);
  const nested = tools.flatMap(({ listing }) => JSON.stringify(listing.outputSchema ?? {}).match(/\w+(?=":\{)/g) ?? []);
  return new Set([
    ...fields.map(({ name }) => name),
    ...nested,
    ...tools.flatMap(({ name, toolset }) => [name, toolset]),
    "truncated_hint",
  ]);
}

const MASKS: readonly [what: string, keep: (tool: Tool, at: number) => boolean][] = [
  ["everything", () => true],
  ["what reads", ({ readOnly }) => readOnly],
  ["what writes", ({ readOnly }) => !readOnly],
  ["every third tool", (_, at) => at % 3 === 0],
  ["what lists nothing", ({ method }) => method.input.field.pageSize === undefined],
  ["nothing", () => false],
];

test.each(SERVERS.flatMap((server) => MASKS.map(([what, keep]) => [server, what, keep] as const)))(
  "the instructions of %s for who may use %s name nothing else and fit",
  (server, _what, keep) => {
    const tools = toolsOf(server).filter(keep);
    const text = instructionsOf(server, tools);
    expect(text.length).toBeLessThanOrEqual(MAX_INSTRUCTIONS);
    const there = known(tools);
    expect(namesIn(text).filter((name) => !there.has(name))).toEqual([]);
    const absent = toolsOf(server).filter((tool) => !tools.includes(tool));
    const words = new Set(text.match(/\w+/g));
    expect(absent.filter(({ name }) => words.has(name)).map(({ name }) => name)).toEqual([]);
    if (tools.length === 0) expect(text).toContain("No tools are available here now");
    else if (!words.has(tools[0]!.name)) for (const { toolset } of tools) expect(words).toContain(toolset);
    else for (const { name } of tools) expect(words).toContain(name);
  },
);

test("what cannot be undone is named, and what reads only is told nothing of writing", () => {
  const aev = toolsOf("aev");
  expect(instructionsOf("aev", aev)).toMatch(/Ask the user to confirm before you call [^:]*launch_scenario/);
  expect(instructionsOf("aev", aev)).toMatch(/real machines and people: [^.]*launch_scenario/);
  const reading = instructionsOf(
    "aev",
    aev.filter(({ readOnly }) => readOnly),
  );
  expect(reading).not.toMatch(/confirm|Writes|real machines/);
});

test("many deletions are named as one, a few by their names", () => {
  const aev = toolsOf("aev");
  expect(instructionsOf("aev", aev)).toContain("before you call any delete_ tool, ");
  const few = aev.filter(({ name }) => ["delete_finding", "delete_channel"].includes(name));
  expect(instructionsOf("aev", few)).toMatch(/before you call delete_\w+, delete_\w+: /);
});

test("names give way where they would not fit, and are left out then altogether", () => {
  const many = Array.from({ length: 40 }, () => toolsOf("cti")).flat();
  const text = instructionsOf("cti", many);
  expect(text.length).toBeLessThanOrEqual(MAX_INSTRUCTIONS);
  expect(text).toContain("Lists are paged");
});

test.each([...PLATFORMS, CORE])("the topics of $name are those of its toolsets", ({ name, about }) => {
  const toolsets = new Set(toolsetsIn(toolsOf(name)));
  const unknown = Object.values(about.topics)
    .flat()
    .filter((toolset) => !toolsets.has(toolset));
  expect(unknown).toEqual([]);
});

const toolsetsIn = (tools: readonly Tool[]): string[] => tools.map(({ toolset }) => toolset);

test("a topic is left out for a caller who sees no tool that answers it", () => {
  const indicators = toolsOf("cti").filter(({ toolset }) => toolset === "indicator");
  expect(instructionsOf("cti", indicators)).toContain("when the user asks about IoCs (IP, domain, hash). Other");
  const words = toolsOf("cti").filter(({ toolset }) => toolset === "vocabulary");
  expect(instructionsOf("cti", words)).toContain("when the user asks about threat intelligence (CTI). Other");
  expect(instructionsOf("cti", [])).not.toContain("Search for tools here");
});
