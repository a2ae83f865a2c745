import { setImmediate as nextTurn } from "node:timers/promises";
import { v7 as uuid } from "uuid";
import type { Log } from "../shared/process/log.js";
import type { DocCollection } from "../shared/store/store.js";
import { COMPANY } from "./company.js";
import { documentBytes } from "./knowledge/document-bytes.js";
import type { BlockRecord, DocumentRecord, SourceRecord } from "./knowledge/records.js";
import type { ObjectRecord } from "./record.js";
import { type Amounts, amountsOf, DEPLOYMENT, type RoomRecord, takenBy } from "./room.js";

/** The record that says that what was there before is counted: no user has such an id. */
const COUNTED = "counted-2";
/** How often a process looks for what is to be counted again, in milliseconds. */
const EVERY_MS = 60_000;
/** How long an owner's amounts stay as they are before they are counted: nobody writes at the moment. */
const QUIET_MS = 60_000;
/** How often an owner is counted again, in milliseconds. */
const AGAIN_MS = 86_400_000;
/** Records that are counted in one go, before others have their turn in the event loop. */
const AT_ONCE = 200;

/** What is counted, and where. */
export interface CountedParts {
  readonly rooms: DocCollection<RoomRecord>;
  readonly objects: readonly DocCollection<ObjectRecord>[];
  readonly documents: DocCollection<DocumentRecord>;
  readonly blocks: DocCollection<BlockRecord>;
  readonly sources: DocCollection<SourceRecord>;
}

/** Counts what was there before anybody counted: once, before the service serves. Only the sums are in memory. */
export async function countRoom(parts: CountedParts): Promise<void> {
  const { rooms } = parts;
  if ((await rooms.findOne({ _id: COUNTED })) !== null) return;
  const owners = new Map<string, Amounts>();
  for await (const [owner, amounts] of everythingOf(parts, undefined))
    owners.set(owner, sum(owners.get(owner) ?? amountsOf(null), amounts));
  const now = new Date();
  let all = amountsOf(null);
  for (const [_id, amounts] of owners) {
    all = sum(all, amounts);
    await rooms.updateOne({ _id }, { $set: { ...amounts, touched_at: now, counted_at: now } }, { upsert: true });
  }
  await rooms.updateOne({ _id: DEPLOYMENT }, { $set: { ...all, touched_at: now } }, { upsert: true });
  await rooms.updateOne({ _id: COUNTED }, { $set: amountsOf(null) }, { upsert: true });
}

/**
 * Counts what one owner stores again, if nobody writes of theirs at the moment: what a process left counted that ended
 * before it wrote is given back.
 *
 * @returns whether there was somebody to count.
 */
export async function recountOne(parts: CountedParts, now = new Date()): Promise<boolean> {
  const { rooms } = parts;
  const quiet = { touched_at: { $lt: new Date(now.getTime() - QUIET_MS) } };
  const due = { counted_at: { $lt: new Date(now.getTime() - AGAIN_MS) } };
  const next =
    (await rooms.findOne({ counted_at: null as never, ...quiet, _id: { $ne: DEPLOYMENT } }, { hint: "counted" })) ??
    (await rooms.findOne({ ...due, ...quiet, _id: { $ne: DEPLOYMENT } }, { sort: { counted_at: 1 }, hint: "counted" }));
  if (next === null) return false;
  const { _id, touched_at = now } = next;
  await dropUnfinished(parts, _id, now);
  let there = amountsOf(null);
  for await (const [, amounts] of everythingOf(parts, _id)) there = sum(there, amounts);
  const { matchedCount } = await rooms.updateOne({ _id, touched_at }, { $set: { ...there, counted_at: now } } as never);
  if (matchedCount === 1)
    await rooms.updateOne({ _id: DEPLOYMENT }, { $inc: { ...difference(there, amountsOf(next)) } });
  return true;
}

/** How old a text is that no revision will take any more, in milliseconds: the record follows it at once. */
const UNFINISHED_MS = 3_600_000;

/** Deletes the texts of revisions whose process ended before the document's record named them. */
async function dropUnfinished({ documents, sources }: CountedParts, owner: string, now: Date): Promise<void> {
  const old = { $lt: uuid({ msecs: now.getTime() - UNFINISHED_MS }) };
  const found = documents.find({ owner }, { projection: { version: 1 }, hint: "owner" });
  for await (const { _id: document, version } of found)
    await sources.deleteMany({ document, version: { $gt: version }, _id: old });
}

/** Counts again in the background, step by step: each of `steps` once a minute. */
export function startCounting(
  steps: readonly (() => Promise<unknown>)[],
  log: Log,
  everyMs = EVERY_MS,
): { close(): Promise<void> } {
  let running: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    for (const step of steps)
      running = running
        .then(step)
        .catch((error: unknown) => log.warn({ err: error }, "stored objects and documents cannot be counted"));
  }, everyMs).unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}

/** What each object and document of an owner takes; of all owners if none is given. */
async function* everythingOf(
  { objects, documents, blocks }: CountedParts,
  only: string | undefined,
): AsyncIterable<readonly [string, Amounts]> {
  let counted = 0;
  const rest = async (): Promise<void> => {
    if (++counted % AT_ONCE === 0) await nextTurn();
  };
  for (const collection of objects) {
    for (const filter of filtersOf(only)) {
      for await (const object of collection.find(filter, { hint: "request" })) {
        yield [
          object.owner === "" ? COMPANY : object.owner,
          { ...amountsOf(null), objects: 1, bytes: takenBy(object) },
        ];
        await rest();
      }
    }
  }
  const filter = only === undefined ? { owner: { $gt: "" } } : { owner: only };
  for await (const document of documents.find(filter, { hint: "owner" })) {
    const held = document.held ?? (await firstCount(document, { documents, blocks }));
    yield [document.owner, { ...amountsOf(null), documents: 1, knowledge: held }];
    await rest();
  }
}

function filtersOf(owner: string | undefined): readonly object[] {
  const company = { owner: "", origin: "company" };
  if (owner === undefined) return [{ owner: { $gt: "" } }, company];
  return owner === COMPANY ? [company] : [{ owner }];
}

/** Counts a document that was there before documents were counted, and says so in its record. */
async function firstCount(
  document: DocumentRecord,
  { documents, blocks }: Pick<CountedParts, "documents" | "blocks">,
): Promise<number> {
  let held = document.bytes;
  const projection = { passages: 1, dimensions: 1 };
  for await (const { passages, dimensions } of blocks.find({ document: document._id }, { projection }))
    held += documentBytes(passages, dimensions);
  await documents.updateOne({ _id: document._id }, { $set: { held } });
  return held;
}

function sum(one: Amounts, other: Amounts): Amounts {
  return {
    objects: one.objects + other.objects,
    bytes: one.bytes + other.bytes,
    documents: one.documents + other.documents,
    knowledge: one.knowledge + other.knowledge,
  };
}

function difference(one: Amounts, other: Amounts): Amounts {
  return sum(one, {
    objects: -other.objects,
    bytes: -other.bytes,
    documents: -other.documents,
    knowledge: -other.knowledge,
  });
}
