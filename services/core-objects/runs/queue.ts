import { randomBytes } from "node:crypto";
import { type DocCollection, type Filter, isDuplicateKey, type UpdateFilter } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { newEtag } from "../objects/gate.js";
import { cancelled, RunLost } from "./ending.js";
import { growRun } from "./grow-run.js";
import { ENDED, type NewStep, type RunRecord, type StepRecord, stepId } from "./record.js";
import { bounded, boundedOutput, stepBytes } from "./run-bytes.js";

// Who has a run is a lease in its record: `due_at` says when others may take it,
// and `fence` grows with each who does. Whatever a worker writes of the run names
// its fence in the filter, so that one who was frozen and wakes up changes nothing.

/** Whose turn it is. */
export type Turn =
  | {
      /** Who had the turn before; "" for nobody. */
      readonly after: string;
      /** Who gets none at the moment. */
      readonly except?: readonly string[];
    }
  /** One user's, and nobody else's. */
  | { readonly only: string };

/**
 * Takes a run of whoever's turn it is: users take turns in the order of their
 * ids, so that nobody waits behind all that another has queued. Of theirs the one
 * that waits longest: a queued one, one whose worker gave no sign of life, or one
 * that has something left to be told. One atomic step.
 */
export async function claim(
  runs: DocCollection<RunRecord>,
  leaseMs: number,
  turn: Turn = { after: "" },
): Promise<RunRecord | null> {
  const now = Date.now();
  const due = { due_at: { $lte: new Date(now) } };
  // While nobody waits nothing is locked.
  if ((await runs.findOne(due, { projection: { _id: 1 } })) === null) return null;
  const take = (queue: Filter<RunRecord>["queue"]): Promise<RunRecord | null> =>
    runs.findOneAndUpdate(
      { queue, ...due } as Filter<RunRecord>,
      { $set: { due_at: new Date(now + leaseMs) }, $inc: { fence: 1, stalls: 1 } },
      { sort: { queue: 1, due_at: 1 }, returnDocument: "after" },
    );
  if ("only" in turn) return take(turn.only);
  const { after, except = [] } = turn;
  const behind = (from: string) => take({ $gt: from, $nin: [...except] });
  return (await behind(after)) ?? (after === "" ? null : behind(""));
}

/** The filter of what only a run goes on with that nobody has cancelled. */
const GOES_ON = { cancelling: { $ne: true } } as const;

/** A run that a worker has: every write fails with RunLost once another has it. */
export class Hold {
  private count = 0;

  constructor(
    private readonly context: Pick<Context, "runs" | "steps" | "runRoom">,
    readonly run: RunRecord,
  ) {}

  /** Begins to work. @throws RunEnd for a run that was cancelled; RunLost for one that another worker took since. */
  async begin(): Promise<void> {
    const set = { state: "running" as const, started_at: this.run.started_at ?? new Date(), etag: newEtag() };
    await this.write({ state: { $in: ["queued", "running"] as const } }, set);
    await this.check();
  }

  /**
   * Asks the store whether the run goes on: before a model or a tool is called.
   *
   * @throws RunEnd for a run that was cancelled; RunLost.
   */
  async check(): Promise<void> {
    const { _id, fence } = this.run;
    const going = await this.context.runs.findOne({ _id, fence, ...GOES_ON }, { projection: { _id: 1 } });
    if (going === null) throw await this.why();
  }

  /** Changes the run, if nobody has cancelled it. @throws RunEnd for a run that was cancelled; RunLost. */
  async goOn(set: Partial<RunRecord>): Promise<void> {
    const written = await this.written({ state: "running", ...GOES_ON }, set);
    if (written === null) throw await this.why();
  }

  /** Gives a sign of life. @returns the run as it is. */
  async renew(leaseMs: number, worked_ms: number): Promise<RunRecord> {
    return this.write({ state: "running" }, { due_at: new Date(Date.now() + leaseMs), worked_ms });
  }

  /** Every step that was ever kept of the run, in order. */
  async steps(): Promise<StepRecord[]> {
    const steps = await this.context.steps.find({ run: this.run._id }, { sort: { _id: 1 }, hint: "run" }).toArray();
    this.count = steps.length;
    return steps;
  }

  /**
   * Keeps the next step. Once this resolves it is on disk. The run's own record goes first, since its filter says
   * whether the run still goes on.
   *
   * @returns it as it is kept: what a model or tool made too long is cut.
   * @throws RunEnd for a run that was cancelled, or if there is no room for the step; RunLost if another worker has kept it.
   */
  async add(step: NewStep, facts: Partial<RunRecord> = {}): Promise<StepRecord> {
    const { _id: run, expires_at } = this.run;
    const number = this.count + 1;
    const record: StepRecord = { ...bounded(step), _id: stepId(run, number), run, number, span: newSpan(), expires_at };
    await growRun(this.context, this.run, stepBytes(record));
    try {
      await this.goOn({ ...facts, step_count: number, stalls: 0, waits: 0, etag: newEtag() });
      await this.context.steps.insertOne(record);
    } catch (error) {
      await growRun(this.context, this.run, -stepBytes(record));
      if (isDuplicateKey(error)) throw new RunLost("another worker has kept this step");
      throw error;
    }
    this.count = number;
    return record;
  }

  /** Keeps how a step that was begun went. */
  async finish(step: StepRecord, how: Pick<StepRecord, "state" | "output" | "approved">): Promise<StepRecord> {
    const set = { ...boundedOutput(how), ended_at: new Date() };
    const finished = { ...step, ...set };
    const bytes = stepBytes(finished) - stepBytes(step);
    await growRun(this.context, this.run, bytes);
    const { matchedCount } = await this.context.steps.updateOne({ _id: step._id, state: "running" }, { $set: set });
    if (matchedCount === 1) return finished;
    await growRun(this.context, this.run, -bytes);
    throw new RunLost("another worker has kept how this step went");
  }

  /**
   * Keeps that a call's user allowed it, before it is made: whoever takes the run later does not make it again.
   *
   * @throws RunLost if another worker has kept it.
   */
  async allow(step: StepRecord): Promise<StepRecord> {
    const asked = { _id: step._id, state: "running" as const, approved: { $exists: false } };
    const { matchedCount } = await this.context.steps.updateOne(asked, { $set: { approved: true } });
    if (matchedCount === 0) throw new RunLost("another worker makes this call");
    return { ...step, approved: true };
  }

  /** Changes the run while it is worked at, cancelled or not. @throws RunLost. */
  async write(filter: Filter<RunRecord>, set: Partial<RunRecord>): Promise<RunRecord> {
    const next = await this.written(filter, set);
    if (next === null) throw new RunLost("another has the run");
    return next;
  }

  private written(filter: Filter<RunRecord>, set: Partial<RunRecord>): Promise<RunRecord | null> {
    return this.context.runs.findOneAndUpdate(
      { _id: this.run._id, fence: this.run.fence, ...filter },
      { $set: set } as UpdateFilter<RunRecord>,
      { returnDocument: "after" },
    );
  }

  /** Why this worker may write nothing more of the run. */
  private async why(): Promise<Error> {
    const { _id, fence } = this.run;
    const mine = await this.context.runs.findOne({ _id, fence }, { projection: { cancelling: 1, error: 1 } });
    return mine?.cancelling ? cancelled(mine.error) : new RunLost("another has the run");
  }

  /** Gives the run back, for any worker to take after so many milliseconds. */
  async release(afterMs: number): Promise<void> {
    await this.context.runs.updateOne(
      { _id: this.run._id, fence: this.run.fence, state: "running" },
      { $set: { due_at: new Date(Date.now() + afterMs) } },
    );
  }

  /** Gives the run back, for any worker to take once its model may be asked again. @throws RunEnd; RunLost. */
  async wait(ms: number, set: Pick<RunRecord, "waits" | "unkept" | "worked_ms">): Promise<void> {
    await this.goOn({ ...set, state: "queued", stalls: 0, due_at: new Date(Date.now() + ms), etag: newEtag() });
  }

  /** The run has ended, and nobody acts for its user by it any more. */
  async actsNoMore(): Promise<void> {
    await this.#setEnded({ delegation: "" });
  }

  /** What is left of an ended run is told: nobody takes it any more. */
  async forget(): Promise<void> {
    await this.#setEnded({ due_at: null, queue: null, delegation: "" });
  }

  async #setEnded(set: Partial<RunRecord>): Promise<void> {
    const { _id, fence } = this.run;
    await this.context.runs.updateOne({ _id, fence, state: { $in: [...ENDED] } }, { $set: set });
  }
}

function newSpan(): string {
  return randomBytes(8).toString("hex");
}
