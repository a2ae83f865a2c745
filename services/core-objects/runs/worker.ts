import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/process/log.js";
import { newEtag } from "../objects/gate.js";
import { delegationPlace } from "./begin-run.js";
import { RunEnd, RunLost } from "./ending.js";
import { type ExecutionParts, execute } from "./execute.js";
import { Hold } from "./queue.js";
import { ENDED, type RunRecord } from "./record.js";
import { exportTrace } from "./trace.js";
import { Turns } from "./turns.js";

/** How a worker works. */
export interface WorkerOptions {
  /** Runs at a time; half of them at most are of one user. */
  readonly atOnce: number;
  /** How long a run stays with a worker that gives no sign of life, in milliseconds. */
  readonly leaseMs: number;
  /** How often it looks for runs that others queued, in milliseconds. */
  readonly lookMs: number;
}

/** How a worker works where nothing else is said. */
export const WORKER: WorkerOptions = { atOnce: 8, leaseMs: 15_000, lookMs: 1_000 };

/** Signs of life within a lease. */
const SIGNS = 5;
/** Workers that a run may lose without coming further. */
const MAX_STALLS = 8;
/** How long a run waits after what it needs was not there, in milliseconds; doubled with each time. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Executes runs in this process. */
export interface Worker {
  /** A run waits: it need not be looked for. */
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
  let woken = new AbortController();
  async function look(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const run = await turns.take([...working.values()]);
        if (run !== null) {
          const work = workOn(run).finally(() => {
            working.delete(work);
            woken.abort();
          });
          working.set(work, run.owner);
          continue;
        }
      } catch (error) {
        log.warn({ err: error }, "runs cannot be looked for");
      }
      await sleep(options.lookMs, undefined, { signal: AbortSignal.any([woken.signal, closing.signal]) }).catch(
        () => undefined,
      );
      woken = new AbortController();
    }
  }

  async function workOn(claimed: RunRecord): Promise<void> {
    const hold = new Hold(context, claimed);
    try {
      if (ENDED.has(claimed.state)) await tell(hold);
      else await bring(hold);
    } catch (error) {
      if (error instanceof RunLost) return;
      log.warn({ err: error, run: claimed._id }, "a run is put off");
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
    let signs: NodeJS.Timeout | undefined;
    try {
      if (run.state === "awaiting_input") throw new RunEnd("timeout", "nobody answered its question for 7 days");
      await hold.begin();
      if (run.stalls > MAX_STALLS)
        throw new RunEnd("worker_lost", `${MAX_STALLS} workers stopped while they were at this step: trigger it again`);
      signs = giveSigns(hold, stop, worked);
      const rest = await execute(hold, parts, AbortSignal.any([stop.signal, closing.signal]));
      if ("output" in rest) await end(hold, { state: "completed", output: rest.output, worked_ms: worked() });
    } catch (error) {
      if (closing.signal.aborted && !stop.signal.aborted) return await hold.release(0);
      const why = stop.signal.aborted ? stop.signal.reason : error;
      if (!(why instanceof RunEnd)) throw why;
      const { state, reason, message } = why;
      await end(hold, { state, error: { reason, message }, worked_ms: worked() });
    } finally {
      clearInterval(signs);
    }
  }

  /** Renews the lease, and hears by the way of who cancels the run and whether its time is over. */
  function giveSigns(hold: Hold, stop: AbortController, worked: () => number): NodeJS.Timeout {
    let until = performance.now() + options.leaseMs;
    let busy = false;
    const check = async (): Promise<void> => {
      if (performance.now() > until) return stop.abort(new RunLost("the lease ran out"));
      if (worked() > hold.run.timeout_ms) {
        const seconds = hold.run.timeout_ms / 1_000;
        return stop.abort(
          new RunEnd("timeout", `it took longer than ${seconds} seconds: trigger_run has timeout_seconds`),
        );
      }
      if (busy) return;
      busy = true;
      const asked = performance.now();
      try {
        const { cancelling } = await hold.renew(options.leaseMs, worked());
        until = asked + options.leaseMs;
        if (cancelling) stop.abort(new RunEnd("cancelled", "it was cancelled by whoever it acts as"));
      } catch (error) {
        // What rests or has ended needs no lease; a store that does not answer may do so before the lease ends.
        if (error instanceof RunLost) stop.abort(error);
      } finally {
        busy = false;
      }
    };
    return setInterval(() => void check(), options.leaseMs / SIGNS).unref();
  }

  /** Ends a run: whatever was told of it before, this is its one end. */
  async function end(hold: Hold, how: Pick<RunRecord, "state" | "worked_ms"> & Partial<RunRecord>): Promise<void> {
    const now = Date.now();
    await hold.write(
      { state: { $in: ["running", "awaiting_input"] as const } },
      { ...how, question: "", ended_at: new Date(now), due_at: new Date(now + options.leaseMs), etag: newEtag() },
    );
    await tell(hold);
  }

  /** Tells what an ended run left: its trace, and that nobody acts for its user any more. */
  async function tell(hold: Hold): Promise<void> {
    const run = await context.runs.findOne({ _id: hold.run._id });
    if (run === null) return;
    try {
      const steps = await hold.steps();
      if (steps.length > 0) await exportTrace(parts.peers, run, steps);
      if (run.delegation !== "" && run.trigger === "manual")
        await context.delegations.end(context.seal.open(run.delegation, delegationPlace(run._id)));
    } catch (error) {
      if (run.stalls <= MAX_STALLS) {
        const wait = Math.min(FIRST_WAIT_MS * 2 ** run.stalls, LONGEST_WAIT_MS);
        await context.runs.updateOne(
          { _id: run._id, fence: run.fence },
          { $set: { due_at: new Date(Date.now() + wait) } },
        );
        return;
      }
      log.warn({ err: error, run: run._id }, "the trace of a run cannot be kept");
    }
    await hold.forget();
  }

  const looking = look();
  return {
    wake: () => woken.abort(),
    async close() {
      closing.abort();
      await looking;
      await Promise.all(working.keys());
    },
  };
}
