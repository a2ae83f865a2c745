import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sentencesOf } from "./support/literals.js";
import { asSentences, refusedBy, styleProblemsOf } from "./support/style.js";

/** The folders whose texts are in plain English: errors, notices, help and log lines. */
const FOLDERS = [
  "services/platform-proxy",
  "services/sandbox",
  "services/core-objects",
  "services/shared",
  "services/auth",
  "services/catalogue",
  "services/traces",
  "services/launcher",
  "facade",
  "clients",
  "scripts",
];

const REFUSED = refusedBy(readFileSync("docs/style.md", "utf8"));

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file}`);

const problemsOf = (file: string, source: string): string[] =>
  styleProblemsOf(asSentences(sentencesOf(file, source)), REFUSED);

test.each(FOLDERS)("the texts of %s use no refused word", (folder) => {
  const sentences = sourcesIn(folder).flatMap((file) => sentencesOf(file, readFileSync(file, "utf8")));
  expect(sentences.length).toBeGreaterThan(40);
  expect(styleProblemsOf(asSentences(sentences), REFUSED)).toEqual([]);
});

test("the texts of a source are its literals of three words and more, with their lines", () => {
  const source = [
    'import { a } from "./of whom it is.js";',
    "// It is got back.",
    'const short = "got back";',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a source that has one.
    "throw new Error(`no ${kind(`with its ${key} there`)} is left in ${",
    "  place } now`);",
    "const isQuoted = /of whom it is/;",
  ].join("\n");
  expect(sentencesOf("x.ts", source)).toEqual([
    { at: "x.ts:1", text: "./of whom it is.js" },
    { at: "x.ts:4", text: "no … is left in … now" },
    { at: "x.ts:4", text: "with its … there" },
  ]);
});

test("a refused word of an error is found, and a refused beginning after the name of an argument too", () => {
  expect(problemsOf("x.ts", 'const a = "it cannot be got back"')).toEqual(['x.ts:1: "got back"']);
  expect(problemsOf("x.ts", 'const a = "score: what is left out stays"')).toEqual([
    'x.ts:1: begins "What is left out stays…"',
  ]);
  expect(problemsOf("x.ts", 'const a = "the score is not set; give what you know"')).toEqual([]);
});
