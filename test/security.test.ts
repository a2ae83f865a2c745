import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const FOLDER = join(ROOT, "docs/security");
const pages = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), "utf8"));

/** The tests that a page names: a file, and the titles after it. */
function named(page: string): { readonly file: string; readonly title: string }[] {
  return [...page.matchAll(/`(test\/[^`]+\.test\.ts)`: ((?:"[^"]+"(?:, )?)+)/g)].flatMap(([, file, titles]) =>
    [...titles!.matchAll(/"([^"]+)"/g)].map(([, title]) => ({ file: file!, title: title! })),
  );
}

/** Those of them that are not there. */
function missing(tests: ReturnType<typeof named>): string[] {
  return tests.flatMap(({ file, title }) => {
    const path = join(ROOT, file);
    if (!existsSync(path)) return [`${file} is not there`];
    const source = readFileSync(path, "utf8");
    // Titles stand alone in a line or after a bracket, and not within another text.
    const quoted = title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const isThere = new RegExp(`[(\\s]["\`]${quoted}["\`],\\s`).test(source);
    return isThere ? [] : [`${file} has no test "${title}"`];
  });
}

test("every test that the pages of security name is there", () => {
  const tests = pages.flatMap(named);
  expect(tests.length).toBeGreaterThan(90);
  expect(missing(tests)).toEqual([]);
});

test("a test that is gone is found", () => {
  const page = '`test/security.test.ts`: "a test that is gone is found", "no such title" | `test/gone.test.ts`: "x"';
  expect(missing(named(page))).toEqual([
    'test/security.test.ts has no test "no such title"',
    "test/gone.test.ts is not there",
  ]);
});

test("all 26 rows have a test, and all classes of weakness", () => {
  const page = readFileSync(join(FOLDER, "held-by-tests.md"), "utf8");
  const rows = page.split("\n").filter((line) => /^\| \d+ \|/.test(line));
  expect(rows.map((row) => Number(row.split("|")[1]))).toEqual(Array.from({ length: 26 }, (_, n) => n + 1));
  for (const row of rows) expect(named(row).length, row).toBeGreaterThan(0);
  const last = page.slice(page.indexOf("## Published classes"));
  const classes = last.split("\n").filter((line) => line.startsWith("| ") && !/^\| (?:Class|---)/.test(line));
  expect(classes).toHaveLength(14);
  for (const row of classes) expect(/`test\/|rows? \d|MCP\d\d/.test(row.split("|")[3]!), row).toBe(true);
});
