import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/process/log.js";
import { newEtag } from "../objects/gate.js";
import { forgetAsking } from "./asking-run.js";
import { delegationPlace } from "./begin-run.js";
import { dropRights } from "./counted-rights.js";
import { countRun, readWork } from "./counted-runs.js";
import { RunEnd, RunLost, RunWaits } from "./ending.js";
import { type ExecutionParts, execute } from "./execute.js";
import { NothingDue } from "./nothing-due.js";
import { Hold } from "./queue.js";
import { ENDED, type RunRecord } from "./record.js";
import { giveSigns } from "./signs.js";
import { ToldSteps } from "./told-steps.js";
import { exportRun } from "./trace.js";
import { type TurnOptions, Turns } from "./turns.js";

/** How a worker works. */
export interface WorkerOptions extends TurnOptions {
  /** How often it looks for runs that others queued, in milliseconds. */
  readonly lookMs: number;
}

/** How a worker works where nothing else is said. */
export const WORKER: WorkerOptions = { atOnce: 8, leaseMs: 15_000, turnRuns: 16, turnMs: 10_000, lookMs: 1_000 };

/** Workers that a run may lose without coming further. */
const MAX_STALLS = 8;
/** How long a run waits after what it needs was not there, in milliseconds; doubled with each time. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Executes runs in this process. */
export interface Worker {
  /** A run waits or was cancelled: the worker need not look for it. */
  wake(): void;
  /** Takes no more runs, and gives back those that it has. */
  close(): Promise<void>;
}

/** Begins to take runs and to execute them, beside whatever else this process does. */
export function startWorker(parts: ExecutionParts, log: Log, options: WorkerOptions = WORKER): Worker {
  const { context } = parts;
  const closing = new AbortController();
  const working = new Map<Promise<void>, string>();
  const turns = new Turns(context.runs, options);
  const nothingDue = new NothingDue(context.runs, "due_at");
  const listening = new Set<() => void>();
  let woken = new AbortController();
  async function look(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        if (await begin()) continue;
      } catch (error) {
        log.warn({ err: error }, "waiting runs cannot be read");
      }
      await sleep(options.lookMs, undefined, { signal: AbortSignal.any([woken.signal, closing.signal]) }).catch(
        () => undefined,
      );
      woken = new AbortController();
    }
  }

  /** Begins the next run. @returns false if none waits. */
  async function begin(): Promise<boolean> {
    if (working.size === 0 && nothingDue.isSo) return false;
    const run = await turns.take([...working.values()]);
    if (run === null) {
      if (working.size === 0) await nothingDue.settle();
      return false;
    }
    const work = workOn(run).finally(() => {
      working.delete(work);
      woken.abort();
    });
    working.set(work, run.owner);
    return true;
  }

  async function workOn(claimed: RunRecord): Promise<void> {
    const hold = new Hold(context, claimed);
    try {
      if (ENDED.has(claimed.state)) await tell(hold);
      else await bring(hold);
    } catch (error) {
      if (error instanceof RunLost) return;
      log.warn({ err: error, run: claimed._id }, "work on a run failed and is tried again later");
      const wait = Math.min(FIRST_WAIT_MS * 2 ** claimed.stalls, LONGEST_WAIT_MS);
      await hold.release(wait).catch(() => undefined);
    }
  }

  /** Brings a run to its end, or to where it rests. */
  async function bring(hold: Hold): Promise<void> {
    const { run } = hold;
    const stop = new AbortController();
    const begun = performance.now();
    const worked = (): number => run.worked_ms + Math.round(performance.now() - begun);
    let quiet = (): void => undefined;
    try {
      if (run.state === "awaiting_input") throw new RunEnd("timeout", "nobody answered its question for 7 days");
      await hold.begin();
      if (run.stalls > MAX_STALLS)
        throw new RunEnd("worker_lost", `${MAX_STALLS} workers stopped during this step: trigger the run again`);
      quiet = giveSigns(hold, { stop, worked, leaseMs: options.leaseMs, listening });
      const rest = await execute(hold, parts, { signal: AbortSignal.any([stop.signal, closing.signal]), worked });
      if ("output" in rest) await end(hold, { state: "completed", output: rest.output, worked_ms: worked() });
    } catch (error) {
      if (closing.signal.aborted && !stop.signal.aborted) return await hold.release(0);
      const why = stop.signal.aborted ? stop.signal.reason : error;
      if (why instanceof RunWaits) {
        const { ms, waits, unkept } = why;
        return await hold.wait(ms, { waits, unkept, worked_ms: worked() + ms });
      }
      if (!(why instanceof RunEnd)) throw why;
      const { state, reason, message, output } = why;
      await end(hold, { state, output, error: { reason, message }, worked_ms: worked() });
    } finally {
      quiet();
    }
  }

  /** Ends a run: whatever was told of it before, this is its one end. A cancelled run is not completed any more. */
  async function end(hold: Hold, how: Pick<RunRecord, "state" | "worked_ms"> & Partial<RunRecord>): Promise<void> {
    const now = Date.now();
    const set = { ...how, question: "", ended_at: new Date(now), due_at: new Date(now + options.leaseMs) };
    const ended = { ...set, etag: newEtag() };
    if (how.state === "completed") await hold.goOn(ended);
    else await hold.write({ state: { $in: ["running", "awaiting_input"] as const } }, ended);
    await tell(hold);
  }

  /** Tells what an ended run left: that nobody acts for its user any more, and its trace. */
  async function tell(hold: Hold): Promise<void> {
    const run = await context.runs.findOne({ _id: hold.run._id });
    if (run === null) return;
    try {
      // First: that nobody acts for the user any more does not wait for the traces.
      if (run.delegation !== "") {
        if (run.trigger === "manual")
          await context.delegations.end(context.seal.open(run.delegation, delegationPlace(run._id)));
        await hold.actsNoMore();
      }
      await context.notices.ended(run);
      const steps = await hold.steps();
      await new ToldSteps(context, parts.peers, run).all(steps, true);
      await exportRun(parts.peers, run);
    } catch (error) {
      if (run.stalls <= MAX_STALLS) {
        const wait = Math.min(FIRST_WAIT_MS * 2 ** run.stalls, LONGEST_WAIT_MS);
        await context.runs.updateOne(
          { _id: run._id, fence: run.fence },
          { $set: { due_at: new Date(Date.now() + wait) } },
        );
        return;
      }
      log.warn({ err: error, run: run._id }, "the trace of a run cannot be saved");
    }
    await forgetAsking(context, run);
    await dropRights(context, run);
    await hold.forget();
    countRun(run.state, run.error?.reason);
  }

  const looking = look();
  const endReading = readWork(context.runs, () => working.size, options.atOnce);
  return {
    wake() {
      woken.abort();
      for (const hear of listening) hear();
    },
    async close() {
      closing.abort();
      endReading();
      await looking;
      await Promise.all(working.keys());
    },
  };
}
