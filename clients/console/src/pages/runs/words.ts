import type { Run } from "#api/core/v1/run_pb";
import { RunErrorReason, RunState } from "#api/core/v1/run_pb";
import type { Status } from "../../ui/badge";

/** The states by their words in an address, with what people read. */
export const STATES = [
  { id: "all", name: "Every state", state: RunState.UNSPECIFIED },
  { id: "awaiting_input", name: "Waits for you", state: RunState.AWAITING_INPUT },
  { id: "running", name: "In progress", state: RunState.RUNNING },
  { id: "queued", name: "Queued", state: RunState.QUEUED },
  { id: "completed", name: "Completed", state: RunState.COMPLETED },
  { id: "failed", name: "Failed", state: RunState.FAILED },
  { id: "timed_out", name: "Timed out", state: RunState.TIMED_OUT },
  { id: "cancelled", name: "Cancelled", state: RunState.CANCELLED },
] as const;

const SHAPES: Readonly<Record<RunState, Status>> = {
  [RunState.UNSPECIFIED]: "absent",
  [RunState.QUEUED]: "absent",
  [RunState.RUNNING]: "registered",
  [RunState.AWAITING_INPUT]: "asking",
  [RunState.COMPLETED]: "connected",
  [RunState.FAILED]: "failed",
  [RunState.CANCELLED]: "off",
  [RunState.TIMED_OUT]: "late",
};

/** What a run that failed is called, where there is more to say than that. */
const FAILURES: Readonly<Partial<Record<RunErrorReason, string>>> = {
  [RunErrorReason.NO_MODEL]: "No model",
  [RunErrorReason.MODEL_FAILED]: "Model failed",
  [RunErrorReason.AGENT_UNAVAILABLE]: "Agent unavailable",
  [RunErrorReason.CREDENTIAL]: "Not signed in",
  [RunErrorReason.SWITCHED_OFF]: "Switched off",
  [RunErrorReason.STEP_LIMIT]: "Too many steps",
  [RunErrorReason.WORKER_LOST]: "Interrupted",
  [RunErrorReason.STORAGE_FULL]: "Storage full",
  [RunErrorReason.CUT]: "Cut",
  [RunErrorReason.FILTERED]: "Filtered",
  [RunErrorReason.REFUSED]: "Refused",
  [RunErrorReason.EMPTY]: "Empty answer",
  [RunErrorReason.BUDGET]: "Over budget",
};

/** A run's state as a shape and a word: what failed is called by its reason. */
export function standingOf({ state, error }: Run): { readonly status: Status; readonly word: string } {
  const named = STATES.find((one) => one.state === state)?.name ?? "Not known";
  const reason = state === RunState.FAILED && error !== undefined ? FAILURES[error.reason] : undefined;
  return { status: SHAPES[state] ?? "absent", word: reason ?? named };
}

/** Whether a worker is at it, or will be. */
export function isGoing({ state }: Run): boolean {
  return state === RunState.QUEUED || state === RunState.RUNNING;
}

/** Whether nothing will change any more. */
export function hasEnded(run: Run): boolean {
  return !isGoing(run) && run.state !== RunState.AWAITING_INPUT;
}

/** "4.2 s", "3 min 5 s". */
export function tookOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** What a run cost, in words. */
export function costOf({ amount, currency = "", priceNotKnown = false }: NonNullable<Run["cost"]>): string {
  if (amount === undefined) return "Not known: the model has no price";
  const said = `${amount.toLocaleString("en", { maximumSignificantDigits: 4 })} ${currency}`;
  return priceNotKnown ? `More than ${said}: one model has no price` : said;
}
