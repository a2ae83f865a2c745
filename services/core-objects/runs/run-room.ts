import { resourceExhausted } from "../../shared/rpc/errors.js";
import type { Base, CollectionSpec, DocCollection } from "../../shared/store/store.js";
import { DEPLOYMENT, type ObjectQuota } from "../room.js";
import { ENDED, type RunRecord, type StepRecord } from "./record.js";
import { runBytes, stepBytes } from "./run-bytes.js";

// Runs end by themselves, at the end of a day. They are counted by owner and that
// day, and what is counted ends with them: nobody has to give it back. A process
// that ends between counting and writing leaves a wrong count until recount-day.ts
// counts that day again.

/** What the runs of one owner take that end on one day. */
export interface RunRoomRecord extends Base {
  readonly owner: string;
  readonly runs: number;
  readonly bytes: number;
  /** When it last changed; absent if it was counted again since. */
  readonly changed_at?: Date;
  readonly expires_at?: Date;
}

/** Where that is kept. */
export const RUN_ROOM: CollectionSpec = {
  name: "run_room",
  indexes: [
    { name: "owner", key: { owner: 1 } },
    { name: "changed", key: { changed_at: 1 }, sparse: true },
    { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};

/** Runs, and their bytes with their steps. */
export interface RunAmounts {
  readonly runs: number;
  readonly bytes: number;
}

/** A change of what is counted of an owner's runs that end on one day. */
export interface RunChange extends RunAmounts {
  readonly owner: string;
  readonly expiresAt: Date;
}

/** What runs take, by owner. */
export interface RunRoom {
  /**
   * Counts what is written next, or what is gone. If the owner has no room, the oldest of the owner's runs that ended
   * give way.
   *
   * @throws ConnectError resource_exhausted.
   */
  take(change: RunChange): Promise<void>;
  /** What an owner's runs take; {@link DEPLOYMENT} for all. */
  of(owner: string): Promise<RunAmounts>;
}

/** What a {@link RunRoom} counts, and where. */
export interface RunRoomParts {
  readonly rooms: DocCollection<RunRoomRecord>;
  readonly runs: DocCollection<RunRecord>;
  readonly steps: DocCollection<StepRecord>;
}

const COUNTED = "counted";
/** Runs that give way for one write. */
const MAX_GONE = 20;
const DAY_MS = 86_400_000;

/** The end of the day of a time: when runs are forgotten. */
export function endOfDay(time: Date): Date {
  return new Date((Math.floor(time.getTime() / DAY_MS) + 1) * DAY_MS);
}

/** Counts in a collection: an increment comes before its check, so that those who write at the same time share the room. */
export function createRunRoom(parts: RunRoomParts, quota: Pick<ObjectQuota, "runs" | "deploymentRuns">): RunRoom {
  const { rooms, runs, steps } = parts;

  async function add(owner: string, { expiresAt, runs: count, bytes }: RunChange): Promise<void> {
    const update = {
      $inc: { runs: count, bytes },
      $set: { changed_at: new Date() },
      $setOnInsert: { owner, expires_at: dayOf(expiresAt) },
    };
    // What is given back for somebody who was erased meanwhile makes no record of them again.
    await rooms.updateOne({ _id: idOf(owner, expiresAt) }, update, { upsert: count > 0 || bytes > 0 });
  }

  async function of(owner: string): Promise<RunAmounts> {
    const days = await rooms.find({ owner }).toArray();
    const left = days.filter(({ expires_at }) => expires_at === undefined || expires_at.getTime() > Date.now());
    return {
      runs: left.reduce((sum, one) => sum + one.runs, 0),
      bytes: left.reduce((sum, one) => sum + one.bytes, 0),
    };
  }

  /** @returns whether there was a run that could give way. */
  async function forgetOldest(owner: string): Promise<boolean> {
    const ended = { owner, state: { $in: [...ENDED] }, due_at: null };
    const oldest = await runs.findOne(ended, { sort: { _id: 1 }, hint: "owner" });
    if (oldest === null) return false;
    const { _id, expires_at } = oldest;
    const own = await steps.find({ run: _id }, { hint: "run" }).toArray();
    await steps.deleteMany({ run: _id });
    const { deletedCount } = await runs.deleteOne({ _id });
    if (deletedCount === 0) return true;
    const bytes = runBytes(oldest) + own.reduce((sum, step) => sum + stepBytes(step), 0);
    const gone = { owner, expiresAt: expires_at, runs: -1, bytes: -bytes };
    await add(owner, gone);
    await add(DEPLOYMENT, gone);
    return true;
  }

  return {
    of,
    async take(change) {
      const { owner } = change;
      if (change.runs === 0 && change.bytes === 0) return;
      await add(owner, change);
      await add(DEPLOYMENT, change);
      if (change.bytes <= 0) return;
      for (let gone = 0; (await of(owner)).bytes > quota.runs; gone++) {
        if (gone < MAX_GONE && (await forgetOldest(owner))) continue;
        await undo(change, add);
        throw resourceExhausted(
          `your unfinished runs use the ${mebibytes(quota.runs)} MiB that your runs and their steps may take: cancel some with update_run`,
        );
      }
      if ((await of(DEPLOYMENT)).bytes <= quota.deploymentRuns) return;
      await undo(change, add);
      throw resourceExhausted(
        `the ${mebibytes(quota.deploymentRuns)} MiB that this deployment has for runs are in use: ask an administrator to raise RUN_MEGABYTES, or wait until old runs are deleted`,
      );
    },
  };
}

/** Counts the runs that were there before anybody counted: once, before the service serves. Only the sums are in memory. */
export async function countRuns({ rooms, runs, steps }: RunRoomParts): Promise<void> {
  if ((await rooms.findOne({ _id: COUNTED })) !== null) return;
  const sums = new Map<string, RunRoomRecord>();
  const count = (owner: string, expiresAt: Date, bytes: number): void => {
    const _id = idOf(owner, expiresAt);
    const before = sums.get(_id) ?? { _id, owner, runs: 0, bytes: 0, expires_at: dayOf(expiresAt) };
    sums.set(_id, { ...before, runs: before.runs + 1, bytes: before.bytes + bytes });
  };
  for await (const run of runs.find({ owner: { $gt: "" } }, { hint: "owner" })) {
    let bytes = runBytes(run);
    for await (const step of steps.find({ run: run._id }, { hint: "run" })) bytes += stepBytes(step);
    count(run.owner, run.expires_at, bytes);
    count(DEPLOYMENT, run.expires_at, bytes);
  }
  for (const { _id, ...sum } of sums.values()) await rooms.updateOne({ _id }, { $set: sum }, { upsert: true });
  await rooms.updateOne({ _id: COUNTED }, { $set: { owner: "", runs: 0, bytes: 0 } }, { upsert: true });
}

async function undo(change: RunChange, add: (owner: string, change: RunChange) => Promise<void>): Promise<void> {
  const undone = { ...change, runs: -change.runs, bytes: -change.bytes };
  await add(change.owner, undone);
  await add(DEPLOYMENT, undone);
}

/** The end of the day on which something ends: at that end, if it ends exactly then. */
function dayOf(expiresAt: Date): Date {
  return endOfDay(new Date(expiresAt.getTime() - 1));
}

function idOf(owner: string, expiresAt: Date): string {
  return `${owner}.${dayOf(expiresAt).toISOString().slice(0, 10)}`;
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
