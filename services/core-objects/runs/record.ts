import type { Base, CollectionSpec } from "../../shared/store/store.js";
import type { Spent } from "./spending/spent.js";

/** How far a run is; the last four are its ends. */
export type RunState = "queued" | "running" | "awaiting_input" | "completed" | "failed" | "cancelled" | "timed_out";

/** The states that a run does not leave. */
export const ENDED: ReadonlySet<RunState> = new Set(["completed", "failed", "cancelled", "timed_out"]);

/** Why a run did not end well, as a stable word. */
export type RunErrorWord =
  | "no_model"
  | "model_failed"
  | "agent_unavailable"
  | "credential"
  | "switched_off"
  | "step_limit"
  | "timeout"
  | "cancelled"
  | "worker_lost"
  | "storage_full"
  | "cut"
  | "filtered"
  | "refused"
  | "empty"
  | "budget"
  | "internal";

/** What a run can be begun by. */
export type RunTriggerWord = "manual" | "schedule";

/** What requests to models took; older records have the tokens alone. */
export type Spending = Pick<Spent, "input_tokens" | "output_tokens"> & Partial<Spent>;

/** A run as it is stored: an agent that works as a user. */
export interface RunRecord extends Base, Spending {
  /** The user as whom it acts, and who alone sees it. */
  readonly owner: string;
  /** The owner and their request_id, or the assignment and the time of its schedule: what begins no second run. */
  readonly request: string;
  readonly agent: string;
  /** As it was called when the run was triggered, for when it is gone. */
  readonly agent_name: string;
  /** The version that works; absent of a built-in agent, and of an older run. */
  readonly agent_version?: number;
  /** "" where it is of none. */
  readonly assignment: string;
  readonly assignment_name: string;
  readonly trigger: RunTriggerWord;
  readonly input: string;
  readonly state: RunState;
  /** What it asks; "" while it asks nothing. */
  readonly question: string;
  /** What it was answered and has not read; null for nothing. */
  readonly answer: string | null;
  /** The call that it waits with; null or absent for none. */
  readonly pending?: PendingCall | null;
  /** What was said to that call and was not acted upon; null or absent for nothing. */
  readonly approved?: boolean | null;
  readonly output: string;
  readonly error: { readonly reason: RunErrorWord; readonly message: string } | null;
  /** "" until it is known. */
  readonly model: string;
  /** What the agent was given and the run cannot use, in words; absent until a worker takes it, and of an older one. */
  readonly left_out?: readonly string[];
  readonly step_count: number;
  /** How many of its steps the traces service was told of; absent until the first. */
  readonly told?: number;
  /** The currency of its cost; absent while there is none. */
  readonly currency?: string;
  /** What its model reads at a time, in tokens, as its provider said when it refused a request; absent until then. */
  readonly window?: number;
  /** What requests took that no step has yet; absent for nothing. */
  readonly unkept?: Spent;
  readonly max_steps: number;
  readonly timeout_ms: number;
  /** What its requests to models may take; absent for any amount. */
  readonly max_tokens?: number;
  readonly max_nanos?: number;
  /** How long workers were at it before the present one. */
  readonly worked_ms: number;
  /** What stands for its user at auth, sealed; "" once it has ended. */
  readonly delegation: string;
  /** Lower-case hexadecimal, as the id of its outermost span. */
  readonly trace: string;
  readonly root_span: string;
  /** Somebody wants it to end. */
  readonly cancelling: boolean;
  readonly etag: string;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  /** When a worker may take it: since when it waits, or when the lease of the one that has it ends; null for never. */
  readonly due_at: Date | null;
  /** The owner, in whose turn it is taken; null once it never is again. */
  readonly queue: string | null;
  /** Grows with every worker that takes it: only the last one writes. */
  readonly fence: number;
  /** How many workers took it since it last came further. */
  readonly stalls: number;
  /** How often its model was too busy since it last came further; absent for never. */
  readonly waits?: number;
  /** When it is forgotten: the end of a day. */
  readonly expires_at: Date;
}

/** A call that waits for a yes or no, as its user is shown it. */
export interface PendingCall {
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
  readonly reason: string;
}

/** What a step is: the model was asked, a tool was called, or the user was asked. */
export type StepKind = "model" | "tool" | "question";

/** How a step went. `unknown`: its worker stopped while it went on. */
export type StepState = "running" | "completed" | "failed" | "unknown";

/** A step of a run as it is stored. The id is the run's and its number, with zeros in front. */
export interface StepRecord extends Base, Spending {
  readonly run: string;
  /** From 1. */
  readonly number: number;
  readonly kind: StepKind;
  /** The model, or the tool as the agent names it. */
  readonly name: string;
  readonly state: StepState;
  /** The arguments of a tool, as JSON, or the question. */
  readonly input: string;
  /** What was answered, without what is secret. */
  readonly output: string;
  /** Of the model: how its answer ended; absent if it ended by itself, and of an old one. */
  readonly finish?: Finish;
  /** Of a model that did not answer: the agent's fallback model is asked from then on; absent otherwise. */
  readonly falls_back?: true;
  /** Of the model: how many steps of before it was not told in full; absent for none. */
  readonly shortened?: number;
  /** Of the model: what it wants called, in the words of its API. */
  readonly calls: readonly ToolCall[];
  /** Of the model: thoughts that its service wants back with its calls; absent for none. Nobody is shown them. */
  readonly thoughts?: string;
  /** Of a tool or question: which of the calls it answers; "" of the model. */
  readonly call: string;
  /** Of a tool: whether its answer is text from outside; absent of an old one, which may be. */
  readonly outside?: boolean;
  /** Of a tool that waits for its user's word: why, and what the word is for. */
  readonly asks?: { readonly reason: string; readonly digest: string };
  /** What the user said; absent until then. A call that was allowed is made once, by the worker that kept this. */
  readonly approved?: boolean;
  readonly span: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly expires_at: Date;
}

/** Whether a step is an answer of a model, and not that there was none. */
export function isAnswer({ kind, state }: StepRecord): boolean {
  return kind === "model" && state !== "failed";
}

/** How an answer of a model ended that did not end by itself. */
export type Finish = "length" | "filtered" | "refused" | "error";

/** A step as it is begun. */
export type NewStep = Omit<StepRecord, "_id" | "run" | "number" | "span" | "expires_at">;

/** A call of a tool that the model wants. */
export interface ToolCall {
  readonly id: string;
  /** The function, as it was offered. */
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  /** JSON text that its service wants back with the call; absent for nothing. Nobody is shown it. */
  readonly extra?: string;
}

/** Where runs are kept. */
export const RUNS: CollectionSpec = {
  name: "runs",
  indexes: [
    { name: "owner", key: { owner: 1, _id: -1 } },
    { name: "agent", key: { owner: 1, agent: 1, _id: -1 } },
    { name: "assignment", key: { owner: 1, assignment: 1, _id: -1 } },
    { name: "state", key: { owner: 1, state: 1, _id: -1 } },
    { name: "request", key: { owner: 1, request: 1 }, unique: true },
    { name: "due", key: { due_at: 1 } },
    { name: "turn", key: { queue: 1, due_at: 1 } },
    { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};

/** Where their steps are kept. */
export const STEPS: CollectionSpec = {
  name: "run_steps",
  indexes: [
    { name: "run", key: { run: 1, _id: 1 } },
    { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};

/** The id of a step's record. */
export function stepId(run: string, number: number): string {
  return `${run}.${String(number).padStart(5, "0")}`;
}
