import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { NOUNS } from "../clients/cli/nouns.js";
import { PARAMETERS } from "../facade/catalogue/endpoint-query.js";
import { readImage } from "../services/shared/tools/image.js";
import { readTools, type Tool } from "../services/shared/tools/tools.js";

// What texts name is there: paths and links of the pages, npm scripts, verbs of
// the administration client, and tools, in what callers and models are told.

const ROOT = join(import.meta.dirname, "..");
const TOP = new Set(readdirSync(ROOT));

interface Text {
  readonly file: string;
  readonly text: string;
}

const read = (file: string): Text => ({ file, text: readFileSync(join(ROOT, file), "utf8") });

/** The page of names that are no more: only its last column, where the names of today stand, is looked at. */
const RENAMED = join("docs", "renamed.md");
const lastCells = (text: string): string => text.replace(/^\|.*\|([^|\n]*)\|$/gm, "$1");

const filesIn = (folder: string, end: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(end) && !file.includes("node_modules"))
    .map((file) => join(folder, file));

const PAGES = [
  ...readdirSync(ROOT).filter((file) => file.endsWith(".md") && file !== "CHANGELOG.md"),
  ...filesIn("docs", ".md"),
]
  .map(read)
  .map(({ file, text }) => ({ file, text: file === RENAMED ? lastCells(text) : text }));

/** What is said to callers: texts of the sources, less those of the built-in platforms, which speak as others do. */
const SAID = ["facade", "services", "clients"]
  .flatMap((folder) => filesIn(folder, ".ts"))
  .filter((file) => !file.startsWith("services/sandbox/"))
  .map(read)
  .map(({ file, text }) => ({ file, text: stringsOf(text) }));

/** The literals of a source, but for those that import. */
function stringsOf(source: string): string {
  const literals = source.match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
  return literals.filter((literal) => !/^"[#.][^ ]*"$/.test(literal)).join("\n");
}

const OWN = ["cti", "aev", "grc", "core", "traces", "mcp", "auth", "catalogue", "platform"];
const COMMENTS = OWN.flatMap((name) => filesIn(`proto/${name}`, ".proto"))
  .map(read)
  .map(({ file, text }) => ({ file, text: (text.match(/^ *\/\/.*$/gm) ?? []).join("\n") }));

/** The values of a pattern's first group, each with where it stands. */
function named(texts: readonly Text[], pattern: RegExp): { readonly file: string; readonly name: string }[] {
  return texts.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map((match) => ({ file, name: match[1] as string })),
  );
}

/** a/{b,c} as a/b and a/c. */
function expanded(path: string): string[] {
  const braces = /^(.*)\{([^}]*)\}(.*)$/.exec(path);
  if (braces === null) return [path];
  const [, before, choices = "", after] = braces;
  return choices.split(",").flatMap((choice) => expanded(`${before}${choice}${after}`));
}

/** Paths that a page names and nobody has; NAME, SERVER, <noun> and * stand for what somebody adds. */
function missingPaths(pages: readonly Text[]): string[] {
  const links = named(pages, /\]\((?!https?:|#)([^)#]+)[^)]*\)/g).map(({ file, name }) => ({
    file,
    name: join(dirname(file), name),
  }));
  const spans = named(pages, /`([\w.-]+\/[\w./{},-]*)`/g).filter(
    ({ name }) => TOP.has(name.split("/")[0] as string) && !/\b(?:NAME|SERVER)\b|^data\/|^dist\//.test(name),
  );
  return [...links, ...spans]
    .flatMap(({ file, name }) => expanded(name).map((path) => ({ file, path })))
    .filter(({ path }) => !existsSync(join(ROOT, path)))
    .map(({ file, path }) => `${file}: ${path}`);
}

const SCRIPTS = new Set(Object.keys((JSON.parse(read("package.json").text) as { scripts: object }).scripts));
const missingScripts = (texts: readonly Text[]): string[] =>
  named(texts, /\bnpm run (?:-s )?([a-z][\w:-]*)/g)
    .filter(({ name }) => !SCRIPTS.has(name))
    .map(({ file, name }) => `${file}: npm run ${name}`);

async function verbs(): Promise<Set<string>> {
  const loaded = NOUNS.map(async ({ noun, load }) => (await load()).map(({ verb }) => `${noun} ${verb}`));
  return new Set((await Promise.all(loaded)).flat());
}

const TOOLS = readTools(readImage());
const VERBS = [...new Set(TOOLS.map(({ name }) => name.split("_")[0] as string))].filter((verb) => verb !== "whoami");

/** Names that begin as a tool's does: capabilities of platforms, fields at rest, what only runs are offered, and words that models want. */
const OTHERS = ["add_evidencerevision", "remove_at", "find_tools", "search_query", "search_document"];

/** Names that begin as a tool's does, and are none, nor of anything else of the API. */
function missingTools(texts: readonly Text[]): string[] {
  const known = new Set([...OTHERS, ...TOOLS.map(({ name }) => name)]);
  for (const tool of TOOLS) for (const need of tool.needs) known.add(need);
  for (const desc of readImage()) {
    if (desc.kind === "message") for (const { name } of desc.fields) known.add(name);
    if (desc.kind === "enum") for (const { name } of desc.values) known.add(name.toLowerCase());
  }
  return named(texts, new RegExp(`\\b((?:${VERBS.join("|")})_[a-z_]*[a-z])\\b`, "g"))
    .filter(({ name }) => !known.has(name))
    .map(({ file, name }) => `${file}: ${name}`);
}

test("the paths that pages name exist", () => {
  expect(missingPaths(PAGES)).toEqual([]);
});

test("paths, scripts and verbs that callers are told exist", async () => {
  const told = [...PAGES, ...SAID];
  expect(missingScripts(told)).toEqual([]);
  const paths = named(SAID, /\b(docs\/[\w./-]+\.md)/g).filter(({ name }) => !existsSync(join(ROOT, name)));
  expect(paths).toEqual([]);
  const there = await verbs();
  const said = named(told, /npm run -s cli -- ([a-z-]+ [a-z-]+)/g);
  expect(said.length).toBeGreaterThan(3);
  expect(said.filter(({ name }) => !there.has(name))).toEqual([]);
});

test("tools that callers, models and readers are told of exist", () => {
  expect(
    missingTools([...SAID, ...COMMENTS, ...PAGES.filter(({ file }) => !file.startsWith("docs/decisions"))]),
  ).toEqual([]);
});

test("every member of an endpoint's query is in the README", () => {
  const members: readonly string[] = PARAMETERS;
  expect(members.length).toBeGreaterThanOrEqual(3);
  expect(members.filter((name) => !read("README.md").text.includes(`?${name}=`))).toEqual([]);
});

test("a tool's listing names tools of its own server only", () => {
  const strange = TOOLS.flatMap((tool) => {
    const others = TOOLS.filter(({ name }) => !TOOLS.some((own) => own.server === tool.server && own.name === name));
    // What agents may call is written as server/tool.
    const words = new Set(JSON.stringify(tool.listing).match(/(?<![\w/])\w+/g));
    const own = tool.method.input.field;
    const isArgument = ({ name }: Tool): boolean => Object.values(own).some((field) => field.name === name);
    return others
      .filter((other) => words.has(other.name) && !isArgument(other))
      .map(({ name }) => `${tool.server} ${tool.name}: ${name}`);
  });
  expect(strange).toEqual([]);
});

test("texts lead to pages that the console has", () => {
  const navigation = readFileSync(new URL("../clients/console/src/frame/navigation.ts", import.meta.url), "utf8");
  const entries = [...navigation.matchAll(/group: "([^"]+)", label: "([^"]+)"/g)];
  const pages = new Set(entries.map(([, group, label]) => `${group} > ${label}`));
  expect(pages.size).toBeGreaterThan(5);
  const led = named([...SAID, ...COMMENTS, ...PAGES], /((?:Settings|My Profile) > [A-Z]\w+(?: [A-Z]\w+)*)/g);
  expect(led.filter(({ name }) => !pages.has(name))).toEqual([]);
});

test("what is not there is found", () => {
  const text = "[a](docs/nothing.md) `services/nothing/` `services/{auth,nothing}/` npm run nothing get_nothing_at_all";
  const page = [{ file: "PAGE.md", text }];
  expect(missingPaths(page)).toEqual([
    "PAGE.md: docs/nothing.md",
    "PAGE.md: services/nothing/",
    "PAGE.md: services/nothing/",
  ]);
  expect(missingScripts(page)).toEqual(["PAGE.md: npm run nothing"]);
  expect(missingTools(page)).toEqual(["PAGE.md: get_nothing_at_all"]);
});
