import { invalidArgument } from "../../shared/rpc/errors.js";
import { foreignPageToken, pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import { listPage } from "../../shared/store/page.js";
import type { Context, Kind } from "../context.js";
import { snakeOf } from "../objects/names.js";
import type { ObjectRecord } from "../record.js";
import type { RunRecord } from "../runs/record.js";

// What somebody owns stands in one collection for each kind. A list of it goes through one after the other, each
// along an index that begins with the owner.

/** What its page tokens are made for. */
const LIST = "belongings";
/** The word for runs among the kinds. */
export const RUN = "run";

/** Runs that have not ended, by how far they are. */
const UNFINISHED = ["queued", "running", "awaiting_input"] as const;

/** A part of what somebody owns, in the order of an index. */
type Section = { readonly kind: Kind } | { readonly state: (typeof UNFINISHED)[number] };

/** Some of what somebody owns: of one kind, or runs. */
export type Owned =
  | { readonly kind: Kind; readonly records: readonly ObjectRecord[] }
  | { readonly kind: undefined; readonly records: readonly RunRecord[] };

/** What is read of every object: some are long. */
const READ = ["name", "enabled", "acl", "request"];

/** A page of what somebody owns. */
export type Page = { readonly parts: readonly Owned[]; readonly nextPageToken: string };

/** The word for a kind. */
export function wordOf({ noun }: Pick<Kind, "noun">): string {
  return snakeOf(noun);
}

/** The kinds, those first that refer to no other: what refers to another one is handed over after it. */
export function orderedKinds({ kinds }: Pick<Context, "kinds">): readonly Kind[] {
  const refers = ({ references }: Kind): number => (Object.keys(references).length === 0 ? 0 : 1);
  return [...kinds].sort((a, b) => refers(a) - refers(b) || (a.noun < b.noun ? -1 : 1));
}

/** @throws ConnectError invalid_argument that names the kinds there are. */
function sectionsOf(context: Context, words: readonly string[], withRuns: boolean): readonly Section[] {
  const kinds = orderedKinds(context);
  const known = [...kinds.map(wordOf), ...(withRuns ? [RUN] : [])];
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length > 0)
    throw invalidArgument(
      `kinds: there is no kind ${unknown.map((word) => JSON.stringify(word)).join(", ")} here, only ${known.toSorted().join(", ")}`,
    );
  const isWanted = (word: string): boolean => words.length === 0 || words.includes(word);
  const runs = withRuns && isWanted(RUN) ? UNFINISHED.map((state) => ({ state })) : [];
  return [...runs, ...kinds.filter((kind) => isWanted(wordOf(kind))).map((kind) => ({ kind }))];
}

/** Which part of what somebody owns. */
export interface Wanted {
  readonly owner: string;
  /** Words for kinds; all if empty. */
  readonly kinds: readonly string[];
  readonly withRuns: boolean;
  readonly size: number;
  readonly pageToken: string;
}

/** A page of what somebody owns. @throws ConnectError invalid_argument for an unknown kind or another list's token. */
export async function ownedBy(context: Context, { owner, kinds, withRuns, size, pageToken }: Wanted): Promise<Page> {
  const sections = sectionsOf(context, kinds, withRuns);
  let { at, after } = placeIn(sections, pageToken);
  const parts: Owned[] = [];
  for (let left = size; at < sections.length; at++, after = undefined) {
    const { part, end } = await partOf(context, sections[at]!, { owner, size: left, after });
    if (part.records.length > 0) parts.push(part);
    left -= part.records.length;
    if (end !== undefined) return { parts, nextPageToken: tokenOf(at, end) };
    if (left === 0) return { parts, nextPageToken: at + 1 < sections.length ? tokenOf(at + 1, "") : "" };
  }
  return { parts, nextPageToken: "" };
}

async function partOf(
  context: Context,
  section: Section,
  { owner, size, after }: { readonly owner: string; readonly size: number; readonly after: string | undefined },
): Promise<{ readonly part: Owned; readonly end: string | undefined }> {
  if ("state" in section) {
    const { items, end } = await listPage(context.runs, {
      ...{ seen: { owner, state: section.state }, index: "state", order: "_id", direction: -1, after, size },
      projection: { agent_name: 1 },
    });
    return { part: { kind: undefined, records: items }, end };
  }
  const { items, end } = await listPage(context.collection<ObjectRecord>(section.kind.noun), {
    ...{ seen: { owner }, index: "request", order: "request", direction: 1, after, size },
    projection: Object.fromEntries([...READ, ...(section.kind.leaving.reads ?? [])].map((field) => [field, 1])),
  });
  return { part: { kind: section.kind, records: items }, end };
}

function tokenOf(at: number, after: string): string {
  return pageTokenOf(`${at}:${after}`, LIST);
}

function placeIn(sections: readonly Section[], token: string): { at: number; after: string | undefined } {
  const [, at = "0", after = ""] = /^(\d{1,3}):(.*)$/s.exec(positionOf(token, LIST) ?? "0:") ?? [];
  const place = Number(at);
  if (place >= Math.max(1, sections.length)) throw foreignPageToken();
  return { at: place, after: after === "" ? undefined : after };
}
