import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Flag } from "../../clients/cli/command.js";
import { NOUNS } from "../../clients/cli/nouns.js";
import { instructionsOf } from "../../facade/catalogue/instructions.js";
import { SERVERS } from "../../services/shared/platforms.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { type Passage, passagesOf, refusedBy, styleProblemsOf } from "../support/style.js";

const REFUSED = refusedBy(readFileSync("docs/style.md", "utf8"));
const REFUSED_IN_PAGES = refusedBy(readFileSync("docs/style.md", "utf8"), "Refused in pages");
const TOOLS = readTools(readImage());

/** Pages of texts from protos and settings, to which only the first list applies. */
const FROM_CODE = ["tools", "resources", "configuration", "rights"].map((name) => `docs/${name}.md`);
/** It quotes the words that it refuses. */
const STYLE = "style.md";

const pages = (): string[] => [
  "README.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "ARCHITECTURE.md",
  "clients/node/README.md",
  "test/support/platforms/README.md",
  "test/truth/README.md",
  ...readdirSync("docs")
    .filter((file) => file.endsWith(".md") && file !== STYLE)
    .map((file) => `docs/${file}`),
];

test("the style page's list is read", () => {
  expect(REFUSED.words).toContain("whoever");
  expect(REFUSED.beginnings).toEqual(["Of", "What", "Whose"]);
  expect(REFUSED_IN_PAGES.words).toContain("strangers");
  expect(REFUSED_IN_PAGES.beginnings).toEqual(["Where", "Who"]);
});

test("pages use no refused word", () => {
  const passages = pages().flatMap((file) => passagesOf(file, readFileSync(file, "utf8")));
  expect(passages.length).toBeGreaterThan(400);
  expect(styleProblemsOf(passages, REFUSED)).toEqual([]);
});

test("written pages use no word that is refused in pages", () => {
  const written = pages().filter((file) => !FROM_CODE.includes(file));
  const passages = written.flatMap((file) => passagesOf(file, readFileSync(file, "utf8")));
  expect(passages.length).toBeGreaterThan(400);
  expect(styleProblemsOf(passages, REFUSED_IN_PAGES)).toEqual([]);
});

test("the rules of the style page use no refused word", () => {
  const [rules = ""] = readFileSync("docs/style.md", "utf8").split("\n| Before ", 1);
  expect(styleProblemsOf(passagesOf("docs/style.md", rules), REFUSED)).toEqual([]);
});

test.each(SERVERS)("what a model reads of %s uses no refused word", (server) => {
  const tools = TOOLS.filter((tool) => tool.server === server);
  const passages: Passage[] = [{ at: "instructions", text: instructionsOf(server, tools) }];
  for (const { name, listing } of tools) {
    passages.push({ at: `${name} title`, text: `${listing.title}.` }, { at: name, text: listing.description });
    passages.push(...textsIn(listing.inputSchema, name), ...textsIn(listing.outputSchema, `${name} result`));
  }
  expect([...new Set(styleProblemsOf(passages, REFUSED))]).toEqual([]);
});

/** The descriptions in a schema. */
function textsIn(schema: unknown, at: string): Passage[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "description" && typeof value === "string" ? [{ at, text: value }] : textsIn(value, `${at}.${key}`),
  );
}

test("help of the command line uses no refused word", async () => {
  const passages: Passage[] = [];
  for (const { noun, doc, load } of NOUNS) {
    passages.push({ at: noun, text: doc });
    for (const { verb, doc: said, args = [], flags = {} } of await load()) {
      const at = `${noun} ${verb}`;
      passages.push({ at, text: said }, ...args.map((one) => ({ at: `${at} ${one.name}`, text: one.doc })));
      for (const [name, flag] of Object.entries(flags as Record<string, Flag>))
        passages.push({ at: `${at} --${name}`, text: flag.doc });
    }
  }
  expect(passages.length).toBeGreaterThan(80);
  expect(styleProblemsOf(passages, REFUSED)).toEqual([]);
});

test("a refused word is found, and others are not", () => {
  const found = (text: string) => styleProblemsOf([{ at: "x", text }], REFUSED);
  expect(found("It cannot be got\nback.")).toEqual(['x: "got back"']);
  expect(found("Short. Of a text the first 10 characters are shown.")).toEqual([
    'x: begins "Of a text the first 10 characters are sh…"',
  ]);
  expect(found("What it is.")).toEqual(['x: begins "What it is…"']);
  expect(found("Anyone who has several tenants passes tenant_id. What now? Forbears.")).toEqual([]);
});

test("passages of a page are its paragraphs, items and rows, without code", () => {
  const page = "# Of it\n\nOne\ntwo.\n\n```sh\nwhoever\n```\n\n- `anew` three.\n\n| four | five |\n";
  expect(passagesOf("p", page)).toEqual([
    { at: "p:3", text: "One two." },
    { at: "p:10", text: "three." },
    { at: "p:12", text: "four | five |" },
  ]);
});
