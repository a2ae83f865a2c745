import { invalidArgument, notFound } from "../../shared/rpc/errors.js";
import type { Context, Kind } from "../context.js";
import { documentsOf } from "../knowledge/pass-documents.js";
import type { Passing } from "../objects/leaving.js";
import type { ObjectRecord } from "../record.js";
import { type Amounts, amountsOf, takenBy } from "../room.js";
import { orderedKinds, ownedBy, wordOf } from "./sections.js";

/** Objects of one call. Each takes a handful of reads and writes. */
export const MOST = 200;

/** Which objects of the person who left. */
export interface Selection {
  readonly userId: string;
  readonly toUserId: string;
  readonly ids: readonly string[];
  readonly all: boolean;
  readonly kinds: readonly string[];
  readonly pageToken: string;
}

/** An object that was chosen. */
export interface Chosen {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  /** The new owner has it already. */
  readonly isTheirs: boolean;
}

/** Objects that were chosen, those first that others refer to. */
export interface Choice {
  readonly chosen: readonly Chosen[];
  readonly nextPageToken: string;
}

/** @throws ConnectError invalid_argument for a contradiction. */
export function checkSelection({ ids, all, kinds, pageToken }: Selection): void {
  if (all === ids.length > 0) throw invalidArgument("give either ids, or all");
  if (!all && (kinds.length > 0 || pageToken !== ""))
    throw invalidArgument("kinds and page_token go with all: omit them, or omit ids");
}

/**
 * Finds the objects that are to be handed over.
 *
 * @throws ConnectError not_found that names the ids that neither of both persons owns.
 */
export async function choose(context: Context, selection: Selection): Promise<Choice> {
  const { userId: owner, toUserId, ids, kinds, pageToken } = selection;
  if (selection.all) {
    const page = await ownedBy(context, { owner, kinds, withRuns: false, size: MOST, pageToken });
    const chosen = page.parts.flatMap(({ kind, records }) =>
      kind === undefined ? [] : records.map(({ _id, name }) => ({ kind, id: _id, name, isTheirs: false })),
    );
    return { chosen, nextPageToken: page.nextPageToken };
  }
  const chosen: Chosen[] = [];
  for (const kind of orderedKinds(context)) {
    const found = await context
      .collection(kind.noun)
      .find({ _id: { $in: [...ids] } }, { projection: { name: 1, owner: 1, origin: 1 } })
      .toArray();
    for (const { _id, name, owner: whose, origin } of found)
      if (origin === "user" && (whose === owner || whose === toUserId))
        chosen.push({ kind, id: _id, name, isTheirs: whose === toUserId });
  }
  const known = new Set(chosen.map(({ id }) => id));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw notFound(
      `nothing was handed over: the person who left owns no object with the id ${missing.join(", ")}. ListBelongings returns the ids of the person's objects`,
    );
  return { chosen, nextPageToken: "" };
}

/** A hand-over of what was selected. */
export function passingOf(context: Context, selection: Selection): Passing {
  const { userId: from, toUserId: to, ids, all, kinds } = selection;
  const goes = (kind: Kind, id: string): boolean =>
    all ? kinds.length === 0 || kinds.includes(wordOf(kind)) : ids.includes(id);
  return {
    from,
    to,
    async staying(noun, candidates) {
      const kind = context.kinds.find((one) => one.noun === noun)!;
      const left = candidates.filter((id) => !goes(kind, id));
      if (left.length === 0) return new Set();
      const found = await context
        .collection<ObjectRecord>(noun)
        .find({ _id: { $in: left }, owner: from })
        .toArray();
      return new Set(found.filter((one) => kind.leaving.holdsSecret?.(one)).map(({ _id }) => _id));
    },
  };
}

/**
 * Checks that there is room for all of them, before the first one changes.
 *
 * @returns what each of them loses, by id.
 * @throws ConnectError resource_exhausted.
 */
export async function checkAll(
  context: Context,
  chosen: readonly Chosen[],
  passing: Passing,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const notes = new Map<string, readonly string[]>();
  let sum: Amounts = amountsOf(null);
  for (const { kind, id } of chosen) {
    const record = await context.collection(kind.noun).findOne({ _id: id, owner: passing.from });
    if (record === null) continue;
    const documents = kind.leaving.hasDocuments && (await documentsOf(context, id, passing.from));
    sum = {
      objects: sum.objects + 1,
      bytes: sum.bytes + takenBy(record),
      documents: sum.documents + (documents ? documents.documents : 0),
      knowledge: sum.knowledge + (documents ? documents.knowledge : 0),
    };
    notes.set(id, (await kind.leaving.passed?.(record, passing))?.notes ?? []);
  }
  await context.room.check(passing.to, sum);
  return notes;
}
