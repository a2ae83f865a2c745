import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { readFrontMatter } from "../../front-matter.js";
import type { Shipped } from "../../record.js";
import type { SkillRecord } from "./record.js";

/**
 * Reads a skill that ships with the product as the Agent Skills standard has
 * it: a folder of its name with SKILL.md and other files; `metadata.labels`
 * holds its labels with spaces between.
 *
 * @throws Error that names file and line.
 */
export function readSkill(folder: string): Shipped<SkillRecord> {
  const file = readFrontMatter(join(folder, "SKILL.md"));
  const name = file.text("name");
  if (name !== basename(folder)) throw file.wrong(["name"], `is not the name of its folder, ${basename(folder)}`);
  return {
    name,
    description: file.text("description"),
    labels: file.text("metadata", "labels").split(" "),
    instructions: file.body,
    files: pathsIn(folder).map((path) => {
      const text = readFileSync(join(folder, path), "utf8");
      return { path, text, bytes: Buffer.byteLength(text) };
    }),
  };
}

function pathsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .filter((path) => path !== "SKILL.md")
    .sort();
}
