import { createHash } from "node:crypto";
import { shorten } from "../../shared/tools/shorten.js";
import type { NewStep, RunRecord, StepRecord, ToolCall } from "./record.js";

/** Longest text of a step, in characters. */
const MAX_TEXT = 40 * 1024;
/** Longest answer of a model, in characters: it is not cut, since what is longer is not read. */
export const MAX_ANSWER = 512 * 1024;
/** What stands at the end of a text that is cut takes less than this, in characters. */
const CUT_WORDS = 60;
/** Longest name and id that a model gives a call, in characters. */
const MAX_NAME = 128;
/** Characters of the arguments of all calls of a step. */
const MAX_ARGUMENTS = 128 * 1024;
const LEAST_ARGUMENTS = 1_024;
/** Longest thoughts of a step, in characters. What goes back with a call counts as its arguments do, and is not cut. */
const MAX_THOUGHTS = 64 * 1024;
/** What records take in addition to their texts, about, in bytes. */
const RUN_BYTES = 2_048;
const STEP_BYTES = 512;
/** What a step may take once it has ended, while it goes on: the longest text of 3-byte characters, here and in its run. */
const RESERVED_BYTES = 2 * 3 * MAX_TEXT;

/** The bytes of a run without its steps. */
export function runBytes({ input, left_out = [] }: Pick<RunRecord, "input" | "left_out">): number {
  return RUN_BYTES + Buffer.byteLength(input) + leftOutBytes(left_out);
}

/** The bytes of what a run says that it left out. */
export function leftOutBytes(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
}

/** The bytes of a step. Its texts may stand in the record of its run too, as question, answer or output. */
export function stepBytes({ name, input, output, calls, state, thoughts = "" }: NewStep): number {
  let bytes = STEP_BYTES + Buffer.byteLength(name) + 2 * (Buffer.byteLength(input) + Buffer.byteLength(output));
  bytes += Buffer.byteLength(thoughts);
  for (const { id, name: called, arguments: text, extra = "" } of calls)
    for (const one of [id, called, text, extra]) bytes += Buffer.byteLength(one);
  return state === "running" ? bytes + RESERVED_BYTES : bytes;
}

/** A step with texts of the length that a step may have, whatever a model or tool answered. */
export function bounded<S extends NewStep>(step: S): S {
  const most = Math.max(LEAST_ARGUMENTS, Math.floor(MAX_ARGUMENTS / Math.max(1, step.calls.length)));
  return {
    ...step,
    name: shorten(step.name, MAX_NAME),
    input: shorten(step.input, MAX_TEXT),
    output: step.kind === "model" ? shorten(step.output, MAX_ANSWER) : cutText(step.output),
    call: boundedId(step.call),
    calls: step.calls.map((call) => boundedCall(call, most)),
    ...(step.thoughts !== undefined && { thoughts: shorten(step.thoughts, MAX_THOUGHTS) }),
  };
}

/** The text of a step that ended. */
export function boundedOutput<How extends Pick<StepRecord, "state" | "output">>(how: How): How {
  return { ...how, output: cutText(how.output) };
}

/** A text of the length that a step may have, which says so if it was cut. */
export function cutText(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const kept = shorten(text, MAX_TEXT - CUT_WORDS);
  return `${kept} [cut: ${text.length - kept.length} more characters]`;
}

function boundedCall({ id, name, arguments: text, extra }: ToolCall, most: number): ToolCall {
  // What is cut is not what was signed.
  const kept = extra !== undefined && extra.length <= most ? { extra } : {};
  return { id: boundedId(id), name: shorten(name, MAX_NAME), arguments: shorten(text, most), ...kept };
}

/** A long id becomes a short one that is no other's, so that answers still find their calls. */
function boundedId(id: string): string {
  return id.length <= MAX_NAME ? id : createHash("sha256").update(id).digest("hex");
}
