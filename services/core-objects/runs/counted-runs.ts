import { counter, gauge } from "../../shared/metrics/metrics.js";
import type { DocCollection } from "../../shared/store/store.js";
import type { RunRecord, RunState } from "./record.js";

const ended = counter(
  "sallyport_runs_ended_total",
  "Runs of agents that ended, by state and by the reason of their error.",
  ["state", "reason"],
);

/** Counts a run that ended. @param reason of its error; absent if it has none. */
export function countRun(state: RunState, reason = ""): void {
  ended.of(state, reason).add();
}

const atWork = gauge("sallyport_runs_working", "Runs that this process works on.", []);
const mostAtWork = gauge("sallyport_runs_working_limit", "The most runs that this process works on at once.", []);
const waiting = gauge(
  "sallyport_runs_oldest_waiting_seconds",
  "How long the run has waited that waits longest for a process; 0 if none waits.",
  [],
);

/** Reads how the work on runs goes. Returns the end of it. */
export function readWork(runs: DocCollection<RunRecord>, working: () => number, most: number): () => void {
  const ends = [
    atWork.read(() => [{ labels: [], value: working() }]),
    mostAtWork.read(() => [{ labels: [], value: most }]),
    waiting.read(async () => {
      const now = new Date();
      const due = { sort: { due_at: 1 }, limit: 1, projection: { due_at: 1 }, hint: "due" } as const;
      const [oldest] = await runs.find({ due_at: { $lte: now } }, due).toArray();
      return [{ labels: [], value: oldest?.due_at ? (now.getTime() - oldest.due_at.getTime()) / 1_000 : 0 }];
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
