import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const FOLDER = new URL("./", import.meta.url);
const PAGE = readFileSync(new URL("../../../docs/console.md", import.meta.url), "utf8");

test("every test that docs/console.md names is there, and every test is named", () => {
  const named = [...PAGE.matchAll(/\| `([^`]+)` \|$/gm)].map(([, name]) => name as string);
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".test.ts") && name !== "documented.test.ts");
  const texts = files.map((name) => readFileSync(new URL(name, FOLDER), "utf8"));
  const tests = texts.flatMap((text) => [...text.matchAll(/\btest\(\s*"([^"]+)"/g)].map(([, name]) => name as string));
  expect([...new Set(named)].sort()).toEqual([...new Set(tests)].sort());
});

test("every cell of the grid is a test of the list, a dash, or nothing, and every test of the list is in a cell", () => {
  const rows = PAGE.split("\n").filter((line) => line.startsWith("| "));
  const listed = rows.flatMap((row) => /^\| (\d+) \| `/.exec(row)?.[1] ?? []);
  expect(listed).toEqual(listed.map((_, n) => String(n + 1)));
  const grid = rows.filter((row) => row.split("|").length === 13 && !/^\| (?:Screen|---)/.test(row));
  expect(grid.length).toBeGreaterThanOrEqual(24);
  const cells = grid.flatMap((row) => row.split("|").slice(2, -1)).map((cell) => cell.trim());
  expect(cells.filter((cell) => !/^(?:–|\d+(?:, \d+)*)$/.test(cell))).toEqual([]);
  const used = new Set(cells.filter((cell) => cell !== "–").flatMap((cell) => cell.split(", ")));
  expect([...used].sort()).toEqual([...listed].sort());
});
