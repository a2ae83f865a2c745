import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Context, Kind } from "./context.js";
import { kebabOf } from "./objects/names.js";
import { accessOf } from "./policy.js";
import type { ObjectRecord } from "./record.js";

/** An object that ships with the product, without what the installation sets. */
export type Builtin = Omit<ObjectRecord, "etag" | "created_at" | "updated_at" | "request">;

/** What ships with the product: the objects of each kind, by its noun. */
export type Builtins = ReadonlyMap<string, readonly Builtin[]>;

const FOLDER = fileURLToPath(new URL("builtin/", import.meta.url));
const OWNERSHIP = { origin: "builtin", owner: "", acl: [] } as const;

/**
 * Reads what ships with the product: for each kind the folder named after it,
 * which holds a file or folder for each object.
 *
 * @throws Error that names file and line for what is not as its kind wants it.
 */
export function readBuiltins(kinds: readonly Kind[], folder = FOLDER): Builtins {
  return new Map(kinds.map((kind) => [kind.noun, read(kind, join(folder, kebabOf(kind.plural)))]));
}

/**
 * Makes the store hold exactly these built-in objects; those whose content is
 * there already are left alone.
 *
 * @returns how many were written or removed.
 */
export async function installBuiltins(context: Context, builtins: Builtins): Promise<number> {
  let changed = 0;
  for (const [noun, shipped] of builtins) changed += await install(context, noun, shipped);
  return changed;
}

function read({ readBuiltin }: Kind, folder: string): Builtin[] {
  if (readBuiltin === undefined || !existsSync(folder)) return [];
  return readdirSync(folder).map((entry) => {
    const governed = { ...readBuiltin(join(folder, entry)), ...OWNERSHIP, access: accessOf(OWNERSHIP), enabled: true };
    const digest = createHash("sha256").update(JSON.stringify(governed)).digest("base64url").slice(0, 16);
    return { _id: `builtin.${entry.replace(/\.md$/, "")}`, ...governed, content_hash: digest };
  });
}

async function install(context: Context, noun: string, shipped: readonly Builtin[]): Promise<number> {
  const collection = context.collection(noun);
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
  const shippedBefore = { access: { $in: accessOf(OWNERSHIP) }, origin: OWNERSHIP.origin };
  const there = await collection.find(shippedBefore, { projection: { _id: 1 } }).toArray();
  for (const { _id } of there.filter((object) => !kept.has(object._id))) {
    changed += (await collection.deleteOne({ _id, origin: "builtin" })).deletedCount;
  }
  return changed;
}
