import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { StepRecord, ToolCall } from "./record.js";

/** Some models give no ids, or those of an answer before again: what a tool says has to find its call. */
export function uniqueCalls(calls: readonly ToolCall[], steps: readonly StepRecord[]): ToolCall[] {
  const seen = new Set(steps.flatMap((step) => step.calls.map(({ id }) => id)));
  return calls.map((call) => {
    let { id } = call;
    for (let n = seen.size; id === "" || id === "undefined" || seen.has(id); n++) id = `call_${n}`;
    seen.add(id);
    return { ...call, id };
  });
}

/** What a model gives a tool. @throws ConnectError invalid_argument, in words for the model. */
export function argumentsOf({ arguments: text }: ToolCall): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text === "" ? "{}" : text);
  } catch {
    throw new ConnectError("the arguments are no JSON", Code.InvalidArgument);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new ConnectError("the arguments are no JSON object", Code.InvalidArgument);
}

/** What a model asks its user. */
export function questionIn(wanted: ToolCall): string {
  try {
    const { question } = argumentsOf(wanted);
    if (typeof question === "string" && question.trim() !== "") return question;
  } catch {
    // The person reads what the model wrote.
  }
  return wanted.arguments;
}
