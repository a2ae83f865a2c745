import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { PersonalFate as Fate, type PersonalCountSchema } from "#proto/auth/v1/personal_data_pb.js";
import type {
  ErasePersonalDataRequestSchema,
  ErasePersonalDataResponseSchema,
} from "#proto/core/v1/personal_data_service_pb.js";
import { checkGone } from "../../shared/personal/gone.js";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition } from "../../shared/rpc/errors.js";
import { usedByOthers } from "../belongings/list-belongings.js";
import { orderedKinds, wordOf } from "../belongings/sections.js";
import { stopWork } from "../belongings/stop-work.js";
import type { Context, Kind } from "../context.js";
import { removeDocument } from "../knowledge/remove-document.js";
import { markLeaving } from "../knowledge/worker.js";
import { newEtag } from "../objects/gate.js";
import { tellReach } from "../objects/reach.js";
import type { ObjectRecord } from "../record.js";
import { takenBy } from "../room.js";
import { eraseRuns } from "./erase-runs.js";

type Count = MessageInitShape<typeof PersonalCountSchema>;

/** Objects that are read in one go. */
const AT_ONCE = 100;
/** Objects that a refusal names. */
const NAMED = 20;

/**
 * Deletes what core holds about a person who can no longer sign in: objects, documents and runs. What objects of others
 * use is handed over first: until then nothing is deleted.
 */
export async function erasePersonalData(
  context: Context,
  { userId: owner, dryRun }: MessageShape<typeof ErasePersonalDataRequestSchema>,
  call: Call,
): Promise<MessageInitShape<typeof ErasePersonalDataResponseSchema>> {
  checkGone(await context.people.find(owner, call));
  if (dryRun) {
    await checkUnused(context, owner);
    return { counts: await countsOf(context, owner) };
  }
  // What comes to refer to one of them after the check below sees the mark and is refused.
  const mark = newEtag();
  for (const { noun } of context.kinds)
    await context.collection<ObjectRecord>(noun).updateMany({ owner }, { $set: { deleting: mark } });
  try {
    await checkUnused(context, owner);
  } catch (error) {
    for (const { noun } of context.kinds)
      await context.collection<ObjectRecord>(noun).updateMany({ owner, deleting: mark }, { $unset: { deleting: "" } });
    throw error;
  }
  const counts = await countsOf(context, owner);
  await stopWork(context, { userId: owner } as never);
  // Those first that refer to others.
  for (const kind of orderedKinds(context).toReversed()) await eraseObjects(context, kind, owner);
  const waiting = await eraseRuns(context, owner);
  await context.counted.rooms.deleteOne({ _id: owner });
  if (waiting === 0) {
    await context.countedRuns.rooms.deleteMany({ owner });
    return { counts };
  }
  const reason = "they end at their next step: repeat the call after a minute";
  return {
    counts: [
      ...counts.map((one) => (one.kind === "run" ? { ...one, count: one.count! - BigInt(waiting) } : one)),
      { kind: "run", count: BigInt(waiting), fate: Fate.WAITING, reason },
    ],
  };
}

/** @throws ConnectError failed_precondition that names what objects of others use. */
async function checkUnused(context: Context, owner: string): Promise<void> {
  const used: string[] = [];
  for (const kind of context.kinds) {
    for await (const records of batchesOf(context, kind, owner)) {
      const found = await usedByOthers(context, kind, records, owner);
      used.push(...records.flatMap(({ _id, name }) => (found.has(_id) ? [`${wordOf(kind)} ${name} (${_id})`] : [])));
      if (used.length >= NAMED) break;
    }
  }
  if (used.length > 0)
    throw failedPrecondition(
      `objects of others use what this person owns, so nothing was erased: ${used.slice(0, NAMED).join(", ")}. Hand these over with HandOver (users hand-over USER --to EMAIL --id ID), then repeat the call`,
    );
}

async function* batchesOf(context: Context, { noun }: Kind, owner: string): AsyncIterable<ObjectRecord[]> {
  const objects = context.collection<ObjectRecord>(noun);
  for (let after = ""; ; ) {
    const filter = { owner, request: { $gt: after } };
    const some = await objects.find(filter, { sort: { request: 1 }, limit: AT_ONCE, hint: "request" }).toArray();
    if (some.length === 0) return;
    yield some;
    after = some.at(-1)!.request;
  }
}

async function countsOf(context: Context, owner: string): Promise<Count[]> {
  const { runs, knowledge } = context;
  const counts: Count[] = [];
  const add = (kind: string, count: number): void => {
    if (count > 0) counts.push({ kind, count: BigInt(count), fate: Fate.DELETED });
  };
  for (const kind of orderedKinds(context))
    add(wordOf(kind), await context.collection(kind.noun).countDocuments({ owner }, { hint: "request" }));
  add("document", await knowledge.documents.countDocuments({ owner }, { hint: "owner" }));
  add("run", await runs.countDocuments({ owner }, { hint: "owner" }));
  return counts;
}

async function eraseObjects(context: Context, kind: Kind, owner: string): Promise<void> {
  const objects = context.collection<ObjectRecord>(kind.noun);
  for await (const records of batchesOf(context, kind, owner)) {
    for (const one of records) {
      // What hangs on it goes first: it is found again by its record.
      if (kind.leaving.hasDocuments) await eraseDocuments(context, one._id);
      await kind.leaving.erased?.(context, one);
      const { deletedCount } = await objects.deleteOne({ _id: one._id, owner });
      if (deletedCount === 0) continue;
      await tellReach(context, kind.noun, one, undefined);
      await context.room.take(owner, -1, -takenBy(one));
    }
  }
}

async function eraseDocuments(context: Context, base: string): Promise<void> {
  const { documents } = context.knowledge;
  await markLeaving(context, base);
  for (;;) {
    const some = await documents.find({ knowledge_base: base }, { limit: AT_ONCE, hint: "base" }).toArray();
    for (const one of some) await removeDocument(context, one);
    if (some.length === 0) return;
  }
}
