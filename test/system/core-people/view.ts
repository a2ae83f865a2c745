import type { JsonObject } from "@bufbuild/protobuf";
import type { Ground } from "./ground.js";
import { argumentsOf, requiredOf, type Shown } from "./shown.js";

// All that somebody can see: every list to its end, and everything that is read by an id from one of them.

/** By tool and id, what was answered. */
export type View = ReadonlyMap<string, string>;

/** @returns by tool and id, what was answered. */
export async function viewOf(
  ground: Ground,
  who: "owner" | "stranger" | "somebody",
  tools: readonly Shown[],
): Promise<View> {
  const seen = new Map<string, string>();
  const reads = tools.filter(({ annotations }) => annotations.readOnlyHint);
  const rows = new Map<string, string[]>();
  const walk = async (tool: Shown, args: JsonObject, key: string): Promise<void> => {
    let page_token: unknown;
    for (let page = 0; ; page++) {
      const asked = page_token === undefined ? args : { ...args, page_token: page_token as string };
      const { result, refusal } = await ground.ask(who, tool.name, asked);
      seen.set(`${key} ${page}`, JSON.stringify(result ?? refusal));
      const found = Object.values(result ?? {}).flatMap((value) => (Array.isArray(value) ? value : [])) as JsonObject[];
      const ids = found.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
      rows.set(tool.name, [...(rows.get(tool.name) ?? []), ...ids]);
      page_token = result?.next_page_token;
      if (page_token === undefined) return;
    }
  };
  const lists = reads.filter((tool) => requiredOf(tool).length === 0 && tool.name.startsWith("list_"));
  await Promise.all(lists.map((tool) => walk(tool, {}, tool.name)));
  // What hangs below something that a list has shown, and what hangs below that.
  let waiting = reads.filter((tool) => requiredOf(tool).length === 1 && !DERIVED.has(tool.name));
  for (let deep = 0; deep < 2; deep++) {
    const next: Shown[] = [];
    const walks: Promise<void>[] = [];
    for (const tool of waiting) {
      const [[name, { description = "" }] = ["", {}]] = argumentsOf(tool).filter(([one]) =>
        requiredOf(tool).includes(one),
      );
      const list = [...description.matchAll(/\blist_[a-z_]+/g)].map(([one]) => one).find((one) => rows.has(one));
      if (list === undefined) next.push(tool);
      else walks.push(...rows.get(list)!.map((id) => walk(tool, { [name]: id }, `${tool.name} ${id}`)));
    }
    await Promise.all(walks);
    waiting = next;
  }
  if (waiting.length > 0) throw new Error(`no list gives what these read: ${waiting.map(({ name }) => name).join()}`);
  return seen;
}

/** Tools whose answers are made of what others show. */
const DERIVED = new Set(["search_knowledge", "render_prompt"]);

/** What the people see who own something. */
export async function seenBy(ground: Ground, all: readonly Shown[]): Promise<View> {
  const views = await Promise.all((["owner", "somebody"] as const).map((who) => viewOf(ground, who, all)));
  return new Map(views.flatMap((view) => [...view]));
}

/** What differs between two views. */
export function changesIn(before: View, after: View): string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key) !== after.get(key))
    .map((key) => `${key}: ${before.get(key)?.slice(0, 300)} -> ${after.get(key)?.slice(0, 300)}`);
}
