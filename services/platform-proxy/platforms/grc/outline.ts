import { LRUCache } from "lru-cache";
import { notFound } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import { misshapen } from "../../lib/answers.js";
import { given } from "../../lib/fields.js";
import type { Platform } from "../../platform.js";
import { FRAMEWORKS, type UpstreamFramework } from "./framework.js";

// The platform has the outline of a framework only whole, and takes 2 ms for each
// requirement in it: so it is kept for the time in which somebody pages through it.
// It is the same for all who may read the framework, which is asked of the platform
// at every page, and a framework that was updated is another one here.

interface Node {
  readonly ref_id: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly assessable: boolean;
  readonly children?: Tree | null;
}

type Tree = Readonly<Record<string, Node>>;

/** Characters of a requirement's text in a row, beside what else the row has. */
const REQUIREMENT_TEXT = 80;

const KEPT_MS = 60_000;
/** Characters of all outlines that are kept. */
const KEPT = 20_000_000;
/** What a requirement takes beside its name and text, in characters. */
const ROW = 200;

const outlines = new LRUCache<string, readonly Outlined[]>({
  ttl: KEPT_MS,
  maxSize: KEPT,
  sizeCalculation: (outline) =>
    outline.reduce((sum, { name = "", description = "" }) => sum + ROW + name.length + description.length, 1),
});

/** The requirements of a framework that the caller may read, each after the one that it stands under. */
export async function outlineOf(
  { id, updated_at: updatedAt }: Pick<UpstreamFramework, "id" | "updated_at">,
  platform: Platform,
): Promise<readonly Outlined[]> {
  // By the caller: whoever knows that a framework is there may not read it.
  const key = JSON.stringify([platform.caller.id, id, updatedAt]);
  const kept = outlines.get(key);
  if (kept !== undefined) return kept;
  const tree = await platform.rest<Tree>({ verb: "GET", path: `${FRAMEWORKS}${id}/tree/` });
  if (typeof tree !== "object" || tree === null) throw misshapen(platform.server, "something other than an outline");
  const outline = [...walk(tree)];
  outlines.set(key, outline);
  return outline;
}

/** A requirement in the outline of its framework. */
export interface Outlined {
  readonly id: string;
  readonly refId?: string;
  readonly name?: string;
  readonly description?: string;
  readonly parent?: { readonly id: string };
  readonly depth: number;
  readonly assessable: boolean;
}

/** A requirement as a row of the whole outline: by its name, and by its text where it has none. */
export function rowOf({ name, description, ...told }: Outlined): Outlined {
  return {
    ...told,
    ...(name
      ? { name: shorten(name, REQUIREMENT_TEXT) }
      : given({ description: shorten(description, REQUIREMENT_TEXT) })),
  };
}

function* walk(tree: Tree, depth = 0, parent?: Outlined["parent"]): Generator<Outlined> {
  for (const [id, node] of Object.entries(tree)) {
    const { ref_id: refId, name, description, assessable } = node;
    const says = description === name ? undefined : description;
    yield { id, ...given({ refId, name, description: says, parent }), depth, assessable };
    yield* walk(node.children ?? {}, depth + 1, { id });
  }
}

/** The part of an outline under a requirement, itself first. @throws ConnectError not_found, if the framework does not have it. */
export function under(outline: readonly Outlined[], refId: string): Outlined[] {
  const start = outline.findIndex((one) => one.refId?.toLowerCase() === refId.toLowerCase());
  const top = outline[start];
  if (top === undefined) throw notFound(`under_ref_id: the framework has no requirement ${refId}`);
  const length = outline.slice(start + 1).findIndex(({ depth }) => depth <= top.depth);
  return outline.slice(start, length < 0 ? undefined : start + 1 + length);
}
