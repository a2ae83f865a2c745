import type { MessageInitShape } from "@bufbuild/protobuf";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { SpanSchema } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import {
  Span_SpanKind as SpanKind,
  Status_StatusCode as StatusCode,
} from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import type { Peers } from "../../shared/rpc/peers.js";
import { isAnswer, type RunRecord, type Spending, type StepRecord, type ToolCall } from "./record.js";
import { costIn } from "./spending/cost.js";

// A run as a trace, in the words of OpenTelemetry's conventions for generative AI: the
// run is invoke_agent, its steps are chat and execute_tool. Each span is a delivery, and a
// repeated delivery changes nothing, so that whoever comes after a worker that died may
// tell it again.

/**
 * Tells the traces service of a step that ended, in the name of the run's user.
 *
 * @param steps of the run up to this one at least: it is the one at `n`.
 * @throws ConnectError where it cannot be told now.
 */
export async function exportStep(peers: Peers, run: RunRecord, steps: readonly StepRecord[], n: number): Promise<void> {
  await deliver(peers, run, spanOf(run, steps[n] as StepRecord, said(run, steps, n)));
}

/** Tells of a run that ended, also if it had no step. @throws ConnectError where it cannot be told now. */
export async function exportRun(peers: Peers, run: RunRecord): Promise<void> {
  await deliver(peers, run, rootOf(run));
}

async function deliver(peers: Peers, { owner }: RunRecord, span: Span): Promise<void> {
  const resource = { attributes: attributesOf({ "service.name": "sallyport", "sallyport.run.owner": owner }) };
  await peers.callAsService(TraceService.method.export, {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "sallyport.runs" }, spans: [span] }] }],
  });
}

type Span = MessageInitShape<typeof SpanSchema>;
/** A number that is not a whole one. */
interface Amount {
  readonly amount: number;
}
type Facts = Readonly<Record<string, string | number | boolean | Amount | undefined>>;

function rootOf(run: RunRecord): Span {
  const { agent, agent_name, model, input, output, error } = run;
  return {
    traceId: Buffer.from(run.trace, "hex"),
    spanId: Buffer.from(run.root_span, "hex"),
    name: `invoke_agent ${agent_name}`,
    kind: SpanKind.INTERNAL,
    ...times(run.started_at ?? run.created_at, run.ended_at ?? run.created_at),
    attributes: attributesOf({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": agent,
      "gen_ai.agent.name": agent_name,
      "gen_ai.conversation.id": run._id,
      "gen_ai.request.model": model === "" ? undefined : model,
      ...usageOf(run, run.currency),
      "gen_ai.input.messages": message("user", input),
      "gen_ai.output.messages": output === "" ? undefined : message("assistant", output),
      "error.type": error?.reason,
    }),
    ...(error !== null && { status: { code: StatusCode.ERROR, message: error.message } }),
  };
}

/** A call as the model wrote it, without what its service wants back. */
function shownCall({ extra: _extra, ...call }: ToolCall): ToolCall {
  return call;
}

function spanOf(run: RunRecord, step: StepRecord, input: string): Span {
  const isModel = step.kind === "model";
  const failed = step.state === "failed" || step.state === "unknown";
  const facts: Facts = isModel
    ? {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": step.name,
        "sallyport.finish": step.finish,
        "sallyport.shortened_steps": step.shortened,
        ...usageOf(step, run.currency),
        "gen_ai.input.messages": input,
        "gen_ai.output.messages": JSON.stringify([
          {
            role: "assistant",
            content: step.output,
            ...(step.calls.length > 0 && { tool_calls: step.calls.map(shownCall) }),
          },
        ]),
      }
    : {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": step.name,
        "gen_ai.tool.call.id": step.call,
        "gen_ai.tool.call.arguments": step.input,
        "gen_ai.tool.call.result": step.output,
        "sallyport.approved": step.approved === undefined ? undefined : String(step.approved),
        "error.type": failed ? "tool_error" : undefined,
      };
  return {
    traceId: Buffer.from(run.trace, "hex"),
    spanId: Buffer.from(step.span, "hex"),
    parentSpanId: Buffer.from(run.root_span, "hex"),
    name: `${isModel ? "chat" : "execute_tool"} ${step.name}`,
    kind: isModel ? SpanKind.CLIENT : SpanKind.INTERNAL,
    ...times(step.started_at, step.ended_at ?? run.ended_at ?? step.started_at),
    // The agent too: the trace is in its list before the run, which names it, has ended.
    attributes: attributesOf({ "gen_ai.agent.id": run.agent, "gen_ai.agent.name": run.agent_name, ...facts }),
    ...(failed && { status: { code: StatusCode.ERROR, message: step.output.slice(0, 1_000) } }),
  };
}

/** The conventions have no cost: its words are ours. */
function usageOf(spending: Spending, currency: string | undefined): Facts {
  const { input_tokens, output_tokens, cached_tokens, unpriced = 0 } = spending;
  const amount = costIn(spending);
  return {
    "gen_ai.usage.input_tokens": input_tokens,
    "gen_ai.usage.output_tokens": output_tokens,
    "gen_ai.usage.cache_read.input_tokens": cached_tokens === 0 ? undefined : cached_tokens,
    "sallyport.cost": currency === undefined || amount === undefined ? undefined : { amount },
    "sallyport.cost.currency": currency,
    "sallyport.cost.price_not_known": unpriced > 0 ? true : undefined,
  };
}

/** What the model was told since it was asked before: each message stands in the trace once. */
function said({ input }: RunRecord, steps: readonly StepRecord[], upTo: number): string {
  const before = steps.slice(0, upTo);
  const from = before.findLastIndex(isAnswer);
  if (from < 0) return message("user", input);
  const since = before
    .slice(from + 1)
    .filter(({ kind }) => kind !== "model")
    .map(({ call, output }) => ({ role: "tool", tool_call_id: call, content: output }));
  return JSON.stringify(since);
}

function message(role: string, content: string): string {
  return JSON.stringify([{ role, content }]);
}

function times(start: Date, end: Date): Pick<Span, "startTimeUnixNano" | "endTimeUnixNano"> {
  const nanos = (time: Date): bigint => BigInt(time.getTime()) * 1_000_000n;
  return { startTimeUnixNano: nanos(start), endTimeUnixNano: nanos(end) };
}

function attributesOf(facts: Facts) {
  return Object.entries(facts).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: { value: attributeValue(value) } }],
  );
}

function attributeValue(value: NonNullable<Facts[string]>) {
  if (typeof value === "string") return { case: "stringValue" as const, value };
  if (typeof value === "boolean") return { case: "boolValue" as const, value };
  if (typeof value === "number") return { case: "intValue" as const, value: BigInt(value) };
  return { case: "doubleValue" as const, value: value.amount };
}
