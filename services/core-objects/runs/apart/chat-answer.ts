import { checkJson, type JsonBounds } from "../../../shared/isolation/json-bounds.js";
import { MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import { estimatedTokens } from "../estimated-tokens.js";
import type { Usage } from "../usage.js";
import { type Fields, fieldsOf, listOf, textIn, wordIn } from "./loose-json.js";
import { toldIn } from "./told-error.js";
import { statedIn, usageIn } from "./usage.js";
import { isWrittenCall, WRITTEN_CALL } from "./written-call.js";

// What services say that have the API of chat completions, in all the ways in which they say it. Nothing is believed
// of its shape: what is missing is left out, and what has no message at all is unreadable.

/** How an answer ended: `called` tools or said something, was cut at its length, filtered, refused, or failed on the way. */
export type Finish = "stop" | "length" | "filtered" | "refused" | "error";

/** A call of a tool that the model wants. */
export interface WantedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** JSON text that the service wants back with the call, such as a signature of its thoughts; absent for none. */
  readonly extra?: string;
}

/** What a model said, within bounds. */
export interface ModelAnswer extends Usage {
  readonly text: string;
  readonly calls: readonly WantedCall[];
  /** Its thoughts, which some services want back with its calls; "" for none, and for those in its text. */
  readonly thoughts: string;
  readonly finish: Finish;
  /** How it ended in the service's own word; "" if it said none. */
  readonly reason: string;
  /** The service stated no tokens: they are estimated from the texts. */
  readonly isEstimated: boolean;
}

/** What a service sent is no answer. */
export class AnswerError extends Error {
  /** What it took all the same, if the service stated it. */
  usage?: Usage | undefined;
}

/** The service answered, and nobody can read what. */
export class UnreadableError extends AnswerError {}

/** The connection ended before the answer did: asked again, the service may answer. */
export class BrokenError extends AnswerError {}

/** The service answered with success that something failed; the fields are those of its error. */
export class ToldError extends AnswerError {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** Longest text of an answer, in characters. What is longer is not read to its end, so that nothing is cut in silence. */
const MAX_TEXT = 512 * 1024;
const MAX_ARGUMENTS = 64 * 1024;
const MAX_NAME = 256;
const MAX_REASON = 40;
/** Longest thoughts that are kept, in characters: of longer ones the beginning. And what goes back with a call. */
const MAX_THOUGHTS = 64 * 1024;
const MAX_EXTRA = 16 * 1024;

/** The words for how an answer ended, by service. */
const FINISHES: Readonly<Record<string, Finish>> = {
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  content_filter: "filtered",
  content_filtered: "filtered",
  safety: "filtered",
  recitation: "filtered",
  prohibited_content: "filtered",
  blocklist: "filtered",
  spii: "filtered",
  guardrail_intervened: "filtered",
  sensitive: "filtered",
  image_safety: "filtered",
  refusal: "refused",
  error: "error",
  abort: "error",
  aborted: "error",
  cancelled: "error",
  network_error: "error",
  insufficient_system_resource: "error",
};

/** Reads a whole answer. @throws UnreadableError; ToldError; MisbehavedError. */
export function readAnswer(text: string, bounds: JsonBounds, asked: { readonly characters: number; calls: number }) {
  if (text === "") throw new UnreadableError("its answer is empty");
  checkJson(text, bounds);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new UnreadableError("its answer is not JSON");
  }
  return answerOf(fieldsOf(body), asked);
}

/** What a completion says. @throws UnreadableError; ToldError; MisbehavedError. */
export function answerOf(body: Fields, asked: { readonly characters: number; readonly calls: number }): ModelAnswer {
  const usage = usageIn(statedIn(body));
  try {
    return answerIn(body, usage, asked);
  } catch (error) {
    if (error instanceof AnswerError) error.usage ??= usage;
    throw error;
  }
}

function answerIn(
  body: Fields,
  usage: Usage | undefined,
  { characters, calls: most }: { readonly characters: number; readonly calls: number },
): ModelAnswer {
  const choice = fieldsOf(listOf(body.choices)[0]);
  const message = fieldsOf(choice.message ?? choice.delta ?? (choice.text === undefined ? undefined : choice));
  throwTold(body);
  throwTold(choice);
  if (Object.keys(message).length === 0) {
    const words = toldIn(body)?.message ?? "";
    throw new UnreadableError(`its answer contains no message${words === "" ? "" : `, but says: ${words}`}`);
  }
  const { text, refusal, calls } = partsOf(message);
  const reason = wordIn(choice.finish_reason ?? choice.native_finish_reason).slice(0, MAX_REASON);
  const finish = FINISHES[reason.toLowerCase()] ?? "stop";
  const said = withoutThoughts(text);
  if (calls.length === 0 && isWrittenCall(said)) throw new UnreadableError(WRITTEN_CALL);
  const written = said.length + calls.reduce((sum, call) => sum + call.arguments.length, 0);
  return {
    text: said === "" ? refusal : said,
    calls: calls.slice(0, most),
    thoughts: thoughtsIn(message),
    finish: finish === "stop" && said === "" && refusal !== "" && calls.length === 0 ? "refused" : finish,
    reason,
    inputTokens: usage?.inputTokens ?? estimatedTokens(characters),
    outputTokens: usage?.outputTokens ?? estimatedTokens(written),
    cachedTokens: usage?.cachedTokens ?? 0,
    isEstimated: usage === undefined,
  };
}

/** @throws ToldError for an error that came with success. */
export function throwTold(fields: Fields): void {
  const { error, object } = fields;
  if (object !== "error" && (error === undefined || error === null)) return;
  const { message, code } = toldIn(fields)!;
  throw new ToldError(message, code);
}

/** What is to come back as it is, if it is not too long. */
function thoughtsIn({ reasoning_content: thoughts }: Fields): string {
  return typeof thoughts === "string" ? thoughts.slice(0, MAX_THOUGHTS) : "";
}

function extraIn({ extra_content: extra }: Fields): Pick<WantedCall, "extra"> {
  if (extra === undefined || extra === null) return {};
  const text = JSON.stringify(extra);
  return text.length > MAX_EXTRA ? {} : { extra: text };
}

/** Text, refusal and calls of a message, wherever in it they stand. */
function partsOf(message: Fields): { text: string; refusal: string; calls: WantedCall[] } {
  const calls = [...callsOf(message.tool_calls), ...callsOf(message.function_call)];
  let [text, refusal] = ["", textIn(message.refusal)];
  for (const part of listOf(message.content ?? message.text)) {
    if (typeof part === "string") text += part;
    else {
      const { type, ...more } = fieldsOf(part);
      const word = typeof type === "string" ? type : "";
      if (word === "tool_use" || word === "tool_call" || word === "function_call") calls.push(...callsOf(part));
      else if (word === "refusal") refusal += textIn(more.refusal ?? more.text);
      else if (/image|audio|file|video/.test(word)) text += `[${word.slice(0, MAX_REASON)}]`;
      else if (!/thinking|reasoning|thought/.test(word) && more.thought !== true)
        text += textIn(more.text ?? more.content);
    }
    checkLength(text);
  }
  checkLength(text);
  return { text, refusal: refusal.slice(0, MAX_TEXT), calls };
}

function checkLength(text: string): void {
  if (text.length > MAX_TEXT) throw new MisbehavedError(`its text is longer than ${MAX_TEXT} characters`);
}

/** The calls in a list, in an object by their numbers, or alone. */
function callsOf(value: unknown): WantedCall[] {
  if (value === undefined || value === null) return [];
  const fields = fieldsOf(value);
  const isAlone = "function" in fields || "name" in fields || Array.isArray(value);
  const all = isAlone ? listOf(value) : Object.values(fields);
  return all.flatMap((one) => {
    const call = fieldsOf(one);
    const inner = fieldsOf(call.function ?? call.custom ?? call);
    if (typeof inner.name !== "string" || inner.name === "") return [];
    const id = wordIn(call.id ?? call.call_id).slice(0, MAX_NAME);
    const text = argumentsIn(inner.arguments ?? inner.input);
    return [{ id, name: inner.name.slice(0, MAX_NAME), arguments: text, ...extraIn(call) }];
  });
}

/** Some services give arguments as the object that they are. */
function argumentsIn(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? {});
  return text.slice(0, MAX_ARGUMENTS);
}

/** Some models think aloud in front of their answer. */
function withoutThoughts(text: string): string {
  const begun = text.trimStart();
  if (!begun.startsWith("<think>")) return text;
  const end = begun.indexOf("</think>");
  return end === -1 ? "" : begun.slice(end + "</think>".length).trimStart();
}
