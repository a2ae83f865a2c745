import type { RunErrorWord, RunRecord } from "./record.js";
import { NOTHING, type Spent } from "./spending/spent.js";

/** A run ends here, and why. */
export class RunEnd extends Error {
  constructor(
    readonly reason: RunErrorWord,
    message: string,
    /** What its model had written. */
    readonly output = "",
  ) {
    super(message);
  }

  /** The state that it ends in. */
  get state(): RunRecord["state"] {
    if (this.reason === "cancelled") return "cancelled";
    return this.reason === "timeout" ? "timed_out" : "failed";
  }
}

/** The model is too busy: the run waits, without a worker, and counts the time as if it had worked. */
export class RunWaits extends Error {
  constructor(
    readonly ms: number,
    /** How often it was too busy by now. */
    readonly waits: number,
    message: string,
    /** What its requests took that no step has. */
    readonly unkept: Spent = NOTHING,
  ) {
    super(message);
  }
}

/** This worker has the run no longer: another has it, or will. Nothing more is done or written. */
export class RunLost extends Error {}

/** How a run ends that its user cancelled, or that somebody else ended for the reason that its record holds. */
export function cancelled(error?: RunRecord["error"]): RunEnd {
  return new RunEnd(error?.reason ?? "cancelled", error?.message ?? CANCELLED);
}

/** What is said of such a run. */
export const CANCELLED = "its user cancelled it";
