import { setImmediate as nextTurn } from "node:timers/promises";
import { DEPLOYMENT } from "../room.js";
import { runBytes, stepBytes } from "./run-bytes.js";
import type { RunAmounts, RunRoomParts, RunRoomRecord } from "./run-room.js";

/** How long nobody has written of an owner's day before it is counted again, in milliseconds: no write is under way. */
const QUIET_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Counts the day again whose count changed first and has been quiet since. The count is kept only if nobody wrote
 * meanwhile. A day of the deployment is what its owners' days add up to.
 *
 * @returns whether there was such a day.
 */
export async function recountDay(parts: RunRoomParts, now = new Date()): Promise<boolean> {
  const { rooms } = parts;
  const quiet = { changed_at: { $lt: new Date(now.getTime() - QUIET_MS) } };
  const [day] = await rooms.find(quiet, { sort: { changed_at: 1 }, limit: 1, hint: "changed" }).toArray();
  if (day === undefined) return false;
  const { _id, owner, changed_at, expires_at } = day;
  const there = owner === DEPLOYMENT ? await ownersOf(parts, expires_at) : await runsOf(parts, day);
  const update = { $set: there, $unset: { changed_at: true } } as const;
  const { matchedCount } = await rooms.updateOne({ _id, changed_at } as never, update as never);
  const isRight = there.runs === day.runs && there.bytes === day.bytes;
  if (matchedCount === 1 && owner !== DEPLOYMENT && !isRight)
    await rooms.updateOne({ owner: DEPLOYMENT, expires_at } as never, { $set: { changed_at: now } });
  return true;
}

/** What is there of an owner's runs that end on a day. */
async function runsOf(
  { runs, steps }: RunRoomParts,
  { owner, expires_at: end = new Date() }: RunRoomRecord,
): Promise<RunAmounts> {
  const there = { runs: 0, bytes: 0 };
  const ends = { $gt: new Date(end.getTime() - DAY_MS), $lte: end };
  for await (const run of runs.find({ owner, expires_at: ends }, { hint: "owner" })) {
    there.runs++;
    there.bytes += runBytes(run);
    for await (const step of steps.find({ run: run._id }, { hint: "run" })) there.bytes += stepBytes(step);
    // Others have their turn in the event loop.
    await nextTurn();
  }
  return there;
}

/** What is counted of all owners' runs that end on a day. */
async function ownersOf({ rooms }: RunRoomParts, end: Date | undefined): Promise<RunAmounts> {
  const there = { runs: 0, bytes: 0 };
  for await (const { owner, runs, bytes } of rooms.find({ expires_at: end } as never, { hint: "expiry" })) {
    if (owner === DEPLOYMENT) continue;
    there.runs += runs;
    there.bytes += bytes;
  }
  return there;
}
