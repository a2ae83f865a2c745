import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { checkJson, type JsonBounds } from "../../shared/isolation/json-bounds.js";
import { showHidden } from "../../shared/tools/codec/hidden-characters.js";
import { shorten } from "../../shared/tools/shorten.js";
import type { StepRecord, ToolCall } from "./record.js";
import type { Redactor } from "./redact.js";

/** Calls that a model may want at once. */
const MAX_CALLS = 32;
/** Calls that are kept of an answer: of those that are too many the first, which says so of all. */
export const KEPT_CALLS = MAX_CALLS + 1;
/** What the model is told of it. */
export const NOT_CALLED = `this call and those after it were not made: one answer may have at most ${MAX_CALLS} calls, so make the others in your next answer`;
/** What the model is told of a call whose end is missing. */
export const CUT_CALL =
  "your answer was cut at its maximum length before the arguments of this call were complete, so the call was not made: make it again with shorter arguments";
/** Characters of a name and of an id, and of arguments. */
const MAX_NAME = 128;
const MAX_ARGUMENTS = 40 * 1024;
/** Bounds of arguments before they are parsed. */
const ARGUMENTS: JsonBounds = { bytes: 4 * MAX_ARGUMENTS, depth: 32, nodes: 5_000 };

/** The calls of an answer as they are kept: without what is secret, with what hides in them shown, and not too long. */
export function keptCalls(calls: readonly ToolCall[], redactor: Redactor): ToolCall[] {
  const short = (text: string, most: number): string => shorten(showHidden(redactor.redactBeginning(text)), most);
  return calls.slice(0, KEPT_CALLS).map(({ id, name, arguments: text, extra }) => ({
    id: short(id, MAX_NAME),
    name: short(name, MAX_NAME),
    // What is hidden here is shown where it is read; the tool gets what the model wrote.
    arguments: shorten(redactor.redactBeginning(text), MAX_ARGUMENTS),
    ...(extra !== undefined && { extra: redactor.redact(extra) }),
  }));
}

/** Whether this call is the one too many of its answer. */
export function isOneTooMany({ id }: ToolCall, steps: readonly StepRecord[]): boolean {
  return steps.some(({ calls }) => calls[MAX_CALLS]?.id === id);
}

/** Whether an answer was cut in the middle of this call. */
export function isCut({ id, arguments: text }: ToolCall, steps: readonly StepRecord[]): boolean {
  if (!steps.some(({ calls, finish }) => finish === "length" && calls.at(-1)?.id === id)) return false;
  try {
    checkJson(text, ARGUMENTS);
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

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
  if (text.length >= MAX_ARGUMENTS)
    throw new ConnectError(`the arguments are longer than ${MAX_ARGUMENTS} characters`, Code.InvalidArgument);
  let value = parsed(text === "" ? "{}" : text);
  // Some models write them as JSON in JSON, or null for none.
  if (typeof value === "string") value = parsed(value);
  value ??= {};
  if (typeof value === "object" && !Array.isArray(value)) return value as JsonObject;
  throw new ConnectError("the arguments are not a JSON object", Code.InvalidArgument);
}

function parsed(text: string): unknown {
  try {
    checkJson(text, ARGUMENTS);
  } catch (error) {
    const why = (error as Error).message.replace(/^its JSON/, "the JSON of the arguments");
    throw new ConnectError(why, Code.InvalidArgument);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ConnectError("the arguments are not JSON", Code.InvalidArgument);
  }
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
