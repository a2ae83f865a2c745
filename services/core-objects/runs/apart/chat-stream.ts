import { checkJson, type JsonBounds } from "../../../shared/isolation/json-bounds.js";
import { MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import type { Usage } from "../usage.js";
import { AnswerError, BrokenError, throwTold, UnreadableError } from "./chat-answer.js";
import { type Fields, fieldsOf, listOf, wordIn } from "./loose-json.js";
import { Telling } from "./telling.js";
import { statedIn, usageIn } from "./usage.js";

// An answer that comes piece by piece, as server-sent events, put together as if it had come at once.

/** Bounds of one event, and of all: an event repeats its frame for each word. */
const EVENT: JsonBounds = { bytes: 2 ** 20, depth: 64, nodes: 20_000 };
const MAX_CALLS = 256;
const MAX_PARTS = 50_000;
const MAX_ARGUMENTS = 256 * 1024;
/** Characters of thoughts that are kept: more than go back. */
const MAX_THOUGHTS = 128 * 1024;
/** How long a stream is read on once it has said how it ended, in milliseconds: its usage may follow. */
const AFTER_MS = 5_000;

interface GrowingCall {
  readonly id: string;
  name: string;
  arguments: string;
  extra?: unknown;
}

/**
 * Reads a stream to its end.
 *
 * @param tell hears its text while it comes.
 * @throws BrokenError; UnreadableError; ToldError; MisbehavedError.
 */
export async function readStream(body: ReadableStream<Uint8Array>, tell: (text: string) => void): Promise<Fields> {
  const telling = new Telling(tell);
  const growing = new GrowingAnswer(telling);
  try {
    return await readInto(growing, body);
  } catch (error) {
    if (error instanceof AnswerError) error.usage ??= growing.used;
    // The connection ended, in the words of a library.
    if (error instanceof TypeError) throw Object.assign(new BrokenError(BROKE_OFF), { usage: growing.used });
    throw error;
  } finally {
    telling.end();
  }
}

const BROKE_OFF = "its answer broke off: the connection ended before the answer did";

async function readInto(growing: GrowingAnswer, body: ReadableStream<Uint8Array>): Promise<Fields> {
  let [rest, last] = ["", ""];
  const decoder = new TextDecoder();
  for await (const piece of piecesOf(growing, body)) {
    const text = decoder.decode(piece, { stream: true });
    rest += text;
    if (rest.length > EVENT.bytes) throw new MisbehavedError("an event of its answer is longer than 1 MiB");
    // A long line in small pieces is split once, when it ends; a piece may end between \r and \n.
    const hasEnd = /[\r\n]/.test(last + text);
    last = text;
    if (!hasEnd) continue;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() as string;
    for (const line of lines) if (growing.take(line)) return growing.whole();
  }
  growing.take(rest);
  growing.take("");
  return growing.whole();
}

/** The pieces of a stream, to its end, or to a while after it said how it ended: some are never closed. */
async function* piecesOf(growing: GrowingAnswer, body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = body.getReader();
  let timer: NodeJS.Timeout | undefined;
  let over: Promise<undefined> | undefined;
  try {
    for (;;) {
      if (growing.hasEnded)
        over ??= new Promise((resolve) => {
          timer = setTimeout(() => resolve(undefined), growing.used === undefined ? AFTER_MS : AFTER_MS / 5);
        });
      const next = await Promise.race([reader.read(), ...(over === undefined ? [] : [over])]);
      if (next?.value === undefined) return;
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined);
  }
}

/** What has come so far. */
class GrowingAnswer {
  #parts: unknown[] = [];
  #text = "";
  #refusal = "";
  #calls = new Map<string, GrowingCall>();
  #finish: unknown;
  #usage: unknown;
  #last = "";
  #thoughts = "";
  /** The beginning of an event that goes on in the next line. */
  #open = "";
  #isDone = false;

  constructor(private readonly telling: Telling) {}

  /** The service said how its answer ended. */
  get hasEnded(): boolean {
    return this.#finish !== undefined;
  }

  /** Takes a line; an empty one ends an event. @returns whether it was the last one. */
  take(line: string): boolean {
    if (line === "") return this.#close();
    // Some send lines of JSON and nothing around them.
    const isBare = line.startsWith("{");
    if (!isBare && !line.startsWith("data:")) return false;
    const data = isBare ? line : line.slice("data:".length).trim();
    if (data === "") return false;
    if (data === "[DONE]") {
      this.#isDone = true;
      return true;
    }
    const event = this.#open === "" ? parsed(data) : undefined;
    if (event !== undefined) this.#takeEvent(event);
    else this.#open += data;
    if (this.#open.length > EVENT.bytes) throw new MisbehavedError("an event of its answer is longer than 1 MiB");
    return false;
  }

  /** Takes an event of several lines. */
  #close(): false {
    if (this.#open === "") return false;
    const event = parsed(this.#open);
    if (event === undefined) throw new UnreadableError("an event of its answer is not JSON");
    this.#open = "";
    this.#takeEvent(event);
    return false;
  }

  #takeEvent(event: Fields): void {
    throwTold(event);
    const usage = statedIn(event);
    if (usage !== undefined && usage !== null) this.#usage = usage;
    const choice = fieldsOf(listOf(event.choices).find((one) => Number(wordIn(fieldsOf(one).index)) === 0));
    throwTold(choice);
    this.#grow(fieldsOf(choice.delta ?? choice.message ?? (choice.text === undefined ? undefined : choice)));
    const { finish_reason } = choice;
    if (finish_reason !== undefined && finish_reason !== null && finish_reason !== "") this.#finish = finish_reason;
  }

  /** What the service stated of tokens so far. */
  get used(): Usage | undefined {
    return usageIn(this.#usage);
  }

  whole(): Fields {
    if (!this.#isDone && this.#finish === undefined) throw new BrokenError(BROKE_OFF);
    const content = [...this.#parts, ...(this.#text === "" ? [] : [this.#text])];
    const tool_calls = [...this.#calls.values()].map(callOf);
    const message = { content, refusal: this.#refusal, tool_calls, reasoning_content: this.#thoughts };
    return { choices: [{ message, finish_reason: this.#finish }], usage: this.#usage };
  }

  #grow(delta: Fields): void {
    const { content, refusal, text } = delta;
    for (const part of listOf(content ?? text)) {
      if (typeof part === "string") {
        this.#text += part;
        this.telling.add(part);
      } else this.#keepPart(part);
    }
    if (typeof refusal === "string") this.#refusal += refusal;
    const { reasoning_content: thoughts } = delta;
    if (typeof thoughts === "string" && this.#thoughts.length < MAX_THOUGHTS) this.#thoughts += thoughts;
    for (const [at, one] of listOf(delta.tool_calls).entries()) this.#growCall(fieldsOf(one), at);
    if (delta.function_call !== undefined && delta.function_call !== null)
      this.#growCall({ index: 0, function: delta.function_call }, 0);
  }

  /** The order of texts and parts stays. */
  #keepPart(part: unknown): void {
    if (this.#text !== "") this.#parts.push(this.#text);
    this.#text = "";
    this.#parts.push(part);
    if (this.#parts.length > MAX_PARTS) throw new MisbehavedError(`its answer has more than ${MAX_PARTS} parts`);
  }

  /**
   * Services number calls, and not all of them: with gaps, every one 0, or not at all. A piece with another id than
   * the call of its number is another call, and so is a whole call without an id after another one; one without both
   * goes on with the last.
   */
  #growCall({ id, index, ...more }: Fields, at: number): void {
    const piece = fieldsOf(more.function ?? more);
    const named = typeof id === "string" ? id : "";
    let key = typeof index === "number" ? `n${index}` : named !== "" ? `i${named}` : this.#last || `n${at}`;
    const found = this.#calls.get(key);
    if (found !== undefined && named !== "" && found.id !== "" && found.id !== named) key = `${key} ${named}`;
    else if (found !== undefined && named === "" && typeof index === "number" && this.#last.startsWith(`${key} `))
      key = this.#last;
    const before = this.#calls.get(key);
    if (before !== undefined && named === "" && isWhole(piece) && isJson(before.arguments))
      key = `${key} +${this.#calls.size}`;
    const call: GrowingCall = this.#calls.get(key) ?? { id: named, name: "", arguments: "" };
    call.extra ??= more.extra_content;
    if (typeof piece.name === "string" && call.name !== piece.name) call.name += piece.name;
    const { arguments: text } = piece;
    if (typeof text === "string") call.arguments += text;
    else if (text !== undefined && text !== null) call.arguments = JSON.stringify(text);
    if (call.arguments.length > MAX_ARGUMENTS)
      throw new MisbehavedError("the arguments of a call are longer than 256 KiB");
    this.#calls.set(key, call);
    this.#last = key;
    if (this.#calls.size > MAX_CALLS) throw new MisbehavedError(`its answer has more than ${MAX_CALLS} calls`);
  }
}

/** The fields of an event, which some services have in a list; undefined if it is not JSON. */
function parsed(text: string): Fields | undefined {
  checkJson(text, EVENT);
  try {
    const event: unknown = JSON.parse(text);
    return fieldsOf(Array.isArray(event) ? event[0] : event);
  } catch {
    return undefined;
  }
}

/** Whether a piece is a call with all that it has. */
function isWhole({ name, arguments: text }: Fields): boolean {
  return typeof name === "string" && name !== "" && typeof text === "string" && isJson(text);
}

function isJson(text: string): boolean {
  return text.startsWith("{") && text.endsWith("}") && parsed(text) !== undefined;
}

function callOf({ id, name, arguments: text, extra }: GrowingCall): object {
  return { id, type: "function", function: { name, arguments: text }, ...(extra != null && { extra_content: extra }) };
}
