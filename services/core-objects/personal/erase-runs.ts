import { setTimeout as sleep } from "node:timers/promises";
import type { Context } from "../context.js";
import { ENDED, type RunRecord } from "../runs/record.js";
import { runBytes, stepBytes } from "../runs/run-bytes.js";

/** How long runs that are being ended are waited for, in milliseconds. */
const PATIENCE_MS = 4_000;
const LOOK_MS = 200;
/** Runs that are read in one go. */
const AT_ONCE = 50;

/** Deletes the runs of somebody whose work was stopped, with their steps. @returns how many have not ended yet. */
export async function eraseRuns(context: Context, owner: string): Promise<number> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    let waiting = 0;
    for (let after: string | undefined; ; ) {
      const filter = after === undefined ? { owner } : { owner, _id: { $lt: after } };
      const some = await context.runs.find(filter, { sort: { _id: -1 }, limit: AT_ONCE, hint: "owner" }).toArray();
      for (const run of some) {
        if (ENDED.has(run.state)) await eraseRun(context, run);
        else waiting++;
      }
      if (some.length === 0) break;
      after = some.at(-1)!._id;
    }
    if (waiting === 0 || Date.now() > until) return waiting;
    await sleep(LOOK_MS);
  }
}

/** Its steps go first: they are found again by its record. */
async function eraseRun({ runs, steps, rights, runRoom }: Context, run: RunRecord): Promise<void> {
  let bytes = runBytes(run);
  for await (const step of steps.find({ run: run._id }, { hint: "run" })) bytes += stepBytes(step);
  await steps.deleteMany({ run: run._id });
  await rights.deleteOne({ _id: run._id });
  const { deletedCount } = await runs.deleteOne({ _id: run._id });
  if (deletedCount === 1) await runRoom.take({ owner: run.owner, expiresAt: run.expires_at, runs: -1, bytes: -bytes });
}
