import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** The paths that the tree in ARCHITECTURE.md names, folders with a slash at the end. */
function named(): string[] {
  const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const tree = /## The tree\n\n```\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  const path: string[] = [];
  return tree
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const [, indent = "", names = ""] = /^( *)(\S+(?: \S+)*)/.exec(line) ?? [];
      path.length = indent.length / 2;
      const parent = path.join("");
      path.push(names);
      return names.split(" ").map((name) => parent + name);
    });
}

const folders = (at: string): string[] =>
  readdirSync(join(ROOT, at), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${at}${entry.name}/`);

test("what the tree in ARCHITECTURE.md names is there", () => {
  expect(named().length).toBeGreaterThan(30);
  expect(named().filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("every room of services and façade is in the tree", () => {
  const rooms = folders("services/");
  const there = [...rooms, ...rooms.flatMap(folders), ...folders("facade/")];
  const tree = new Set(named());
  expect(there.filter((room) => !tree.has(room))).toEqual([]);
});
