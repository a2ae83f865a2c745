import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLATFORM_SERVERS } from "../services/shared/platforms.js";
import { readImage } from "../services/shared/tools/image.js";
import { readTools } from "../services/shared/tools/tools.js";

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

/** Names that the façade does not know: it serves what the protos and the table of platforms say. */
const NAMES = [...PLATFORM_SERVERS, "opencti", "openaev", "ciso", ...readTools(readImage()).map(({ name }) => name)];
const NAMED = new RegExp(`(?<![A-Za-z0-9_])(?:${NAMES.join("|")})(?![A-Za-z0-9_])`, "i");
/** What counts holders: services/shared/limits does. */
const LIMITER =
  /\bclass \w*(?:Bucket|Limit|Throttle|Slot|Quota)\w*|\bnew (?:Map|LRUCache)<string, (?:number|Set<string>)>/;

/** The lines of a source of the façade that say what the façade does not know. */
const strangeIn = (source: string): string[] =>
  source.split("\n").filter((line) => NAMED.test(line) || LIMITER.test(line));

test("the façade names no platform and no tool, and has no limiter of its own", () => {
  const files = readdirSync(join(ROOT, "facade"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  expect(files.length).toBeGreaterThan(50);
  const strange = files.flatMap((file) =>
    strangeIn(readFileSync(join(ROOT, "facade", file), "utf8")).map((line) => `${file}: ${line.trim()}`),
  );
  expect(strange).toEqual([]);
});

test("a platform, a tool and a limiter in the façade are found", () => {
  const lines = [
    'if (server === "cti") return;',
    "// As OpenCTI does.",
    'call("list_agents");',
    "class AddressBuckets {}",
    "const tried = new LRUCache<string, Set<string>>({ max: 10 });",
    "const held = new Map<string, number>();",
    "const explicit = slots.take(name);",
  ];
  expect(strangeIn(lines.join("\n"))).toEqual(lines.slice(0, -1));
});
