import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { RunErrorReason, type RunSchema, RunState, RunTrigger } from "#proto/core/v1/run_pb.js";
import { RunStepKind, type RunStepSchema, RunStepState } from "#proto/core/v1/run_service_pb.js";
import { shorten } from "../../shared/tools/shorten.js";
import type { RunErrorWord, RunRecord, StepRecord } from "./record.js";
import { costIn } from "./spending/cost.js";

/** Characters of a question in a row: as many as it mostly takes to answer without another call. */
const MAX_QUESTION = 200;
/** Characters of an output that are shown; the trace has all. */
const MAX_OUTPUT = 30_000;

type RunView = Exclude<MessageInitShape<typeof RunSchema>, { $typeName: string }>;

/** A run as it is shown in full. */
export function runOf(run: RunRecord): RunView {
  return {
    ...rowOf(run),
    input: run.input,
    ...(run.question !== "" && { question: run.question }),
    ...(run.error !== null && { error: errorOf(run.error, run.error.message) }),
    ...outputOf(run),
    ...(run.model !== "" && {
      model: run.model,
      inputTokens: BigInt(run.input_tokens),
      outputTokens: BigInt(run.output_tokens),
      ...costOf(run),
    }),
    ...(run.state === "awaiting_input" && run.pending != null && { pendingCall: { ...run.pending } }),
    ...(run.agent_version !== undefined && { agentVersion: run.agent_version }),
    leftOut: [...(run.left_out ?? [])],
    traceId: run.trace,
    etag: run.etag,
    ...(run.started_at !== null && { startedAt: timestampFromDate(run.started_at) }),
  };
}

/** What it cost; nothing is said of a run of before costs were counted. */
function costOf(run: RunRecord): RunView {
  const { currency, unpriced } = run;
  if (unpriced === undefined) return {};
  const amount = costIn(run);
  return {
    cost: {
      ...(amount !== undefined && currency !== undefined && { amount, currency }),
      ...(unpriced > 0 && { priceNotKnown: true }),
    },
  };
}

/** The final answer, or what was written of it; of a long one the beginning and its length. */
function outputOf({ state, output }: RunRecord): RunView {
  if (output === "" && state !== "completed") return {};
  if (output.length <= MAX_OUTPUT) return { output };
  return { output: shorten(output, MAX_OUTPUT), outputCharacters: output.length };
}

/** What a row says of its cost: where no price is known, every row would say that. */
function costInRow(run: RunRecord): RunView {
  const { cost } = costOf(run);
  return cost?.amount === undefined || cost.amount === 0 ? {} : { cost };
}

/** A run as a row of a list. */
export function rowOf(run: RunRecord): RunView {
  return {
    id: run._id,
    agent: { id: run.agent, name: run.agent_name },
    ...(run.assignment !== "" && { assignment: { id: run.assignment, name: run.assignment_name } }),
    trigger: RunTrigger[run.trigger.toUpperCase() as "MANUAL"],
    state: stateWordOf(run.state),
    input: shorten(run.input),
    ...(run.question !== "" && { question: shorten(run.question, MAX_QUESTION) }),
    ...(run.error !== null && { error: errorOf(run.error, shorten(run.error.message)) }),
    stepCount: run.step_count,
    ...costInRow(run),
    createdAt: timestampFromDate(run.created_at),
    ...(run.ended_at !== null && { endedAt: timestampFromDate(run.ended_at) }),
  };
}

/** The word of the API for a state. */
export function stateWordOf(state: RunRecord["state"]): RunState {
  return RunState[state.toUpperCase() as "QUEUED"];
}

/** The state that a word of the API means; undefined where none is given. */
export function stateOf(word: RunState): RunRecord["state"] | undefined {
  return word === RunState.UNSPECIFIED ? undefined : (RunState[word].toLowerCase() as RunRecord["state"]);
}

/** A step as a row of a list. */
export function stepOf(step: StepRecord): MessageInitShape<typeof RunStepSchema> {
  return {
    number: step.number,
    kind: RunStepKind[step.kind.toUpperCase() as "MODEL"],
    name: step.name,
    state: RunStepState[step.state.toUpperCase() as "RUNNING"],
    input: shorten(step.input),
    output: shorten(step.output),
    ...(step.approved !== undefined && { approved: step.approved }),
    spanId: step.span,
    startedAt: timestampFromDate(step.started_at),
    ...(step.ended_at !== null && { durationMs: step.ended_at.getTime() - step.started_at.getTime() }),
  };
}

function errorOf({ reason }: { readonly reason: RunErrorWord }, message: string) {
  return { reason: RunErrorReason[reason.toUpperCase() as "INTERNAL"], message };
}
