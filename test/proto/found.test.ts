import { describe, expect, test } from "vitest";
import { instructionsOf } from "../../facade/catalogue/instructions.js";
import { CORE, PLATFORMS } from "../../services/shared/platforms.js";
import { bm25 } from "../../services/shared/tools/bm25.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { cosine, tfIdf } from "../support/bm25.js";
import type { Described } from "../support/tool-index.js";
import { alikeProblemsOf, exactProblemsOf, nounProblemsOf, openingProblemsOf, sentenceProblemsOf } from "./found.js";

const ALL = readTools(readImage());

describe.each([...PLATFORMS, CORE])("on $name", ({ name: server, about }) => {
  const tools = ALL.filter((tool) => tool.server === server);

  test("the plural noun of each kind finds its list", () => expect(nounProblemsOf(tools)).toEqual([]));
  test("an exact name finds its tool first", () => expect(exactProblemsOf(tools)).toEqual([]));
  test("tools that are alike name each other", () => expect(alikeProblemsOf(tools)).toEqual([]));
  test("first sentences are short", () => expect(sentenceProblemsOf(tools)).toEqual([]));
  test("the instructions say when to search here", () =>
    expect(openingProblemsOf(instructionsOf(server, tools), about.product)).toEqual([]));
});

/** A tool with these texts. */
const tool = (name: string, description: string, args: Readonly<Record<string, string>> = {}): Described => ({
  server: "cti",
  name,
  listing: {
    description,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(args).map(([argument, text]) => [argument, { type: "string", description: text }]),
      ),
    },
  },
});

describe("what is not found is reported, and what is found is not", () => {
  const others = ["delete_one", "duplicate_one", "create_one"].map((name) => tool(name, "Acts on players."));

  test("a noun that finds other tools", () => {
    const lost = tool("list_players", "Looks through the people who take part in a simulation.");
    expect(nounProblemsOf([...others, lost])).toEqual([
      'names whole: "players" finds delete_one, duplicate_one, create_one, not list_players',
      'names split: "players" finds delete_one, duplicate_one, create_one, not list_players',
    ]);
    const found = tool("list_players", "Players (people): list players, or find players by name.");
    expect(nounProblemsOf([...others, found])).toEqual([]);
  });

  test("a noun that only a split name has", () => {
    const whole = tool("list_players", "Looks through people.");
    expect(nounProblemsOf([whole])).toEqual(['names whole: "players" finds nothing, not list_players']);
  });

  test("the list of one object's parts answers for its noun", () => {
    expect(nounProblemsOf([tool("list_entity_notes", "Notes (comments): list those on an object.")])).toEqual([]);
  });

  test("a name that other tools repeat more often", () => {
    const loud = ["merge", "list", "count"].map((verb) => tool(`${verb}_notes`, "Use get_note. ".repeat(60)));
    const quiet = tool("get_note", "Shows one of the texts that people wrote on an object. ".repeat(30));
    expect(exactProblemsOf([...loud, quiet])).toEqual([
      expect.stringMatching(/^names whole: get_note finds \w+_notes$/),
      expect.stringMatching(/^names split: get_note finds \w+_notes, \w+_notes, \w+_notes$/),
    ]);
    expect(exactProblemsOf([...loud.slice(1), quiet])).toHaveLength(1);
    expect(exactProblemsOf([tool("merge_notes", "Merges texts."), quiet])).toEqual([]);
  });

  test("descriptions that are alike", () => {
    const text = "Lists the findings of a simulation, newest first";
    const [one, two] = [tool("list_findings", `${text}.`), tool("list_results", `${text}.`)];
    expect(alikeProblemsOf([one, two])).toEqual([
      "list_findings and list_results are alike (1.00) and do not name each other",
    ]);
    const naming = [
      tool("list_findings", `${text}; not list_results.`),
      tool("list_results", `${text}; not list_findings.`),
    ];
    expect(alikeProblemsOf(naming)).toEqual([]);
    expect(alikeProblemsOf([one, tool("get_agent", "Shows an agent.")])).toEqual([]);
  });

  test("a long first sentence", () => {
    expect(sentenceProblemsOf([tool("get_note", `${"a".repeat(120)}. Short.`)])).toEqual([
      "get_note begins with a sentence of 121 characters; at most 120",
    ]);
    expect(sentenceProblemsOf([tool("get_note", `Shows v1.2 of a note. ${"a".repeat(200)}.`)])).toEqual([]);
  });

  test("instructions that come to the point too late", () => {
    const late = `${"Lists are paged. ".repeat(20)}OpenCTI. Search for tools here when the user asks about malware.`;
    expect(openingProblemsOf(late, "OpenCTI")).toEqual([
      "the first 300 characters do not name OpenCTI",
      "the first 300 characters do not say when to search for tools here",
    ]);
    const early = "OpenCTI. Search for tools here when the user asks about malware.";
    expect(openingProblemsOf(early, "OpenCTI")).toEqual([]);
  });
});

test("BM25 and cosines are those of the formulas", () => {
  const documents = [["a", "a", "b"], ["a"], ["c", "c", "c", "c"]];
  const rank = bm25(documents);
  // b: idf ln(1 + 2.5 / 1.5); a is in two documents, and weighs more in the short one.
  expect(rank(["a"])).toEqual([1, 0]);
  expect(rank(["b", "a"])).toEqual([0, 1]);
  expect(rank(["d"])).toEqual([]);
  const [one, two, three] = tfIdf(documents);
  expect(cosine(one!, one!)).toBeCloseTo(1);
  // 2 × 1.2877 / hypot(2 × 1.2877, 1.6931)
  expect(cosine(one!, two!)).toBeCloseTo(0.8356, 4);
  expect(cosine(one!, three!)).toBe(0);
});
