import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DocCollection } from "../shared/store/store.js";
import { accessOf } from "./policy.js";
import type { AgentRecord, Collections, ObjectRecord, SkillRecord } from "./store.js";

// What ships with the product lies beside this file: skills as the Agent
// Skills standard has them (a folder with SKILL.md and its files), agents as
// one Markdown file each. Front matter holds one `key: value` a line whose
// value is JSON, which is also YAML.

/** What ships with the product, without what the installation sets. */
export interface Builtins {
  readonly agents: readonly Shipped<AgentRecord>[];
  readonly skills: readonly Shipped<SkillRecord>[];
}

type Shipped<T extends ObjectRecord> = Omit<T, "etag" | "created_at" | "updated_at" | "request">;

const FOLDER = fileURLToPath(new URL("builtin/", import.meta.url));
const OWNERSHIP = { origin: "builtin", owner: "", acl: [] } as const;

/** Reads the agents and skills that ship with the product. @throws Error for a file that is not as it must be. */
export function readBuiltins(folder = FOLDER): Builtins {
  return {
    skills: readdirSync(join(folder, "skills")).map((name) => readSkill(join(folder, "skills", name), name)),
    agents: readdirSync(join(folder, "agents")).map((file) => readAgent(join(folder, "agents", file), file)),
  };
}

/**
 * Makes the store hold exactly these built-in objects; those whose content is
 * there already are left alone.
 *
 * @returns how many were written or removed.
 */
export async function installBuiltins(collections: Collections, { agents, skills }: Builtins): Promise<number> {
  return (
    (await install(collections.agents as unknown as Installable, agents)) +
    (await install(collections.skills as unknown as Installable, skills))
  );
}

type Installable = DocCollection<ObjectRecord>;

async function install(collection: Installable, shipped: readonly Shipped<ObjectRecord>[]): Promise<number> {
  let changed = 0;
  const kept = new Set(shipped.map(({ _id }) => _id));
  for (const { _id, ...content } of shipped) {
    const installed = await collection.findOne({ _id }, { projection: { content_hash: 1 } });
    if (installed?.content_hash === content.content_hash) continue;
    const now = new Date();
    const set = { ...content, request: _id, etag: content.content_hash ?? "", updated_at: now };
    await collection.updateOne({ _id }, { $set: set, $setOnInsert: { created_at: now } }, { upsert: true });
    changed++;
  }
  const there = await collection.find({ origin: "builtin" }, { projection: { _id: 1 } }).toArray();
  for (const { _id } of there.filter((object) => !kept.has(object._id))) {
    changed += (await collection.deleteOne({ _id, origin: "builtin" })).deletedCount;
  }
  return changed;
}

function readSkill(folder: string, name: string): Shipped<SkillRecord> {
  const { head, body } = readDocument(join(folder, "SKILL.md"));
  if (head.name !== name) throw new Error(`${folder}/SKILL.md is named ${head.name}, its folder ${name}`);
  const { tags = "" } = (head.metadata ?? {}) as { tags?: string };
  const files = filesUnder(folder).map((path) => {
    const text = readFileSync(join(folder, path), "utf8");
    return { path, text, bytes: Buffer.byteLength(text) };
  });
  return shippedAs(`builtin.${name}`, {
    name,
    description: head.description as string,
    tags: tags.split(" ").filter((tag) => tag !== ""),
    instructions: body,
    files,
  });
}

function readAgent(path: string, file: string): Shipped<AgentRecord> {
  const { head, body } = readDocument(path);
  const { skills, ...said } = head as Pick<AgentRecord, "name" | "description" | "tags" | "tools" | "skills">;
  return shippedAs(`builtin.${file.replace(/\.md$/, "")}`, {
    ...said,
    model: "",
    skills: skills.map((skill) => `builtin.${skill}`),
    knowledge_bases: [],
    instructions: body,
  });
}

function shippedAs<C extends object>(id: string, content: C) {
  const governed = { ...content, ...OWNERSHIP, access: accessOf(OWNERSHIP), enabled: true };
  const digest = createHash("sha256").update(JSON.stringify(governed)).digest("base64url").slice(0, 16);
  return { _id: id, ...governed, content_hash: digest };
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    )
    .filter((path) => path !== "SKILL.md")
    .sort();
}

function readDocument(path: string): { head: Record<string, unknown>; body: string } {
  const found = /^---\n(?<head>.*?)\n---\n+(?<body>.*)$/s.exec(readFileSync(path, "utf8"))?.groups;
  if (found === undefined) throw new Error(`${path} does not begin with front matter`);
  const lines = found.head!.split("\n").map((line) => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), JSON.parse(line.slice(colon + 2)) as unknown] as const;
  });
  return { head: Object.fromEntries(lines), body: found.body! };
}
