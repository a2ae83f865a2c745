import { createHash } from "node:crypto";
import { failedPrecondition, invalidArgument } from "../../shared/rpc/errors.js";
import { shorten } from "../../shared/tools/shorten.js";
import { isKnown } from "../objects/tool-names.js";
import type { Origin } from "../policy.js";
import type { AskingAgents } from "./asking-agents.js";
import type { PendingCall, RunRecord, StepRecord, ToolCall } from "./record.js";
import type { AgentTool } from "./tools/agent-tool.js";

// A person's word: some calls of a run are made only if its user says yes. Here it is decided which, what the user is
// told, and what the model hears of a no (docs/decisions/0089).

/** Characters of arguments that a person is shown: as many as an answer has room for. */
const SHOWN = 20_000;
const MAX_NAME = 128;

/** The run whose call is looked at. */
export interface Asked {
  /** Patterns that mark tools, of the agent as it was given and as it is. */
  readonly marked: readonly string[];
  readonly origin: Origin;
  readonly steps: readonly StepRecord[];
  readonly asking: AskingAgents;
}

/** Why a call waits for a word, as a sentence; undefined for one that is made at once. */
export function reasonToAsk(tool: AgentTool, { marked, origin, steps, asking }: Asked): string | undefined {
  const name = new Set([tool.known]);
  if (marked.some((pattern) => isKnown(pattern, name))) return "The agent is set to ask before it calls this tool.";
  if (!tool.writesOutside || asking === "none" || (asking === "company" && origin !== "company")) return undefined;
  const read = steps.find(({ kind, outside = true }) => kind === "tool" && outside);
  if (read === undefined) return undefined;
  return `The call changes something outside, and the run read text from outside before (step ${read.number}, ${shorten(read.name, MAX_NAME)}), which may have led the agent to it.`;
}

/** What a word is for: this tool, with these arguments. */
export function digestOf({ target }: AgentTool, { name, arguments: text }: ToolCall): string {
  return createHash("sha256")
    .update(JSON.stringify([target, name, text]))
    .digest("base64url");
}

/** The call that a run waits with, as its user is shown it. */
export function pendingOf(step: StepRecord): PendingCall {
  const { length } = step.input;
  const cut = length > SHOWN ? ` [cut: the arguments have ${length} characters; get_trace_payload returns them]` : "";
  return { tool: step.name, arguments: `${shorten(step.input, SHOWN)}${cut}`, reason: step.asks?.reason ?? "" };
}

/** The question of a run that waits with a call. */
export function questionOf(step: StepRecord): string {
  return `May the agent call ${step.name}? ${step.asks?.reason ?? ""} get_run shows the arguments (pending_call).`;
}

/** What the model hears of a call that its user refused. */
export function refusalWith(words: string): string {
  const said = words === "" ? "" : ` and said: ${words}`;
  return `the person you work for refused this call${said}. It was not made; do not try to reach the same in another way`;
}

/** What stands before the answer of a call that its user allowed with words. */
export function allowedWith(words: string): string {
  return words === "" ? "" : `The person you work for allowed this call and said: ${words}\n\n`;
}

/** What the model hears if a call is not what its user said yes to. */
export const CHANGED =
  "the tool is not the one that the person you work for said yes to any more, so the call was not made";

/** A person's answer to what a run asks. */
export interface Word {
  readonly answer: string;
  readonly approve?: boolean | undefined;
  readonly etag: string;
}

/**
 * What a run that waits with a call, or with a question, is told.
 *
 * @throws ConnectError that says which of both it waits with.
 */
export function checkedWord({ pending }: RunRecord, { answer, approve, etag }: Word): Partial<RunRecord> {
  if (pending == null) {
    if (approve !== undefined) throw failedPrecondition("the run asks a question and not for a yes or no: give answer");
    return { answer };
  }
  if (approve === undefined)
    throw failedPrecondition(
      `the run waits for a yes or no to its call of ${pending.tool}: read pending_call with get_run, then give approve and the etag`,
    );
  if (etag === "")
    throw invalidArgument(
      "approve needs the etag that get_run returns with pending_call, so that the word is for the call that you saw",
    );
  return { answer, approved: approve, pending: null };
}
