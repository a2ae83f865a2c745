import { shorten } from "../../shared/tools/shorten.js";
import { messagesOfStep, openingOf } from "./conversation.js";
import type { Messages } from "./model.js";
import { isAnswer, type RunRecord, type StepRecord } from "./record.js";

// A conversation that is longer than its model reads loses its oldest parts first: the outputs of older tools beyond
// their beginning, then whole older steps, and of the newest answers what does not fit. Each says so where it stood, so
// that the model can call a tool again. Steps and trace have all of it.

/** Characters that stay of a text of an older step. */
const KEPT = 200;
/** How much of what fits is used once something has to go, so that not every step has something go. */
const TARGET = 0.6;
/** The least that stays of each of the newest outputs, in characters. */
const LEAST = 500;
/** Tools that a note names. */
const NAMED = 20;

/** Fits the conversation of a run, step after step: what went stays gone, so that its beginning changes rarely. */
export class Fitting {
  /** Steps that are left out, and those that are shortened, from the first on. */
  #gone = 0;
  #short = 0;
  /** Steps that the conversation did not have whole the last time. */
  shortened = 0;

  /**
   * The conversation in so many characters.
   *
   * @returns undefined, if the system prompt, the task and the last answers do not fit.
   */
  fit(system: string, run: RunRecord, steps: readonly StepRecord[], characters: number): Messages | undefined {
    const opening = openingOf(system, run);
    if (characters === Infinity && this.#short === 0) return [...opening, ...steps.flatMap(messagesOfStep)];
    // The answers to the last calls of the model are what it goes on with.
    const newest = Math.max(0, steps.findLastIndex(isAnswer));
    const whole = steps.map((step) => sizeOf(messagesOfStep(step)));
    const short = steps.map((step, n) => (n < newest ? sizeOf(messagesOfStep(shortened(step))) : whole[n]!));
    const size = (): number =>
      sizeOf(opening) +
      (this.#gone > 0 ? sizeOf(noteOf(steps.slice(0, this.#gone))) : 0) +
      sum(short, this.#gone, this.#short) +
      sum(whole, this.#short, steps.length);
    if (size() > characters) {
      const target = characters * TARGET;
      while (this.#short < newest && size() > target) this.#short = nextExchange(steps, this.#short);
      if (size() > characters)
        while (this.#gone < newest && size() > target) this.#gone = nextExchange(steps, this.#gone);
    }
    this.#short = Math.max(this.#short, this.#gone);
    const over = size() - characters;
    const tail = over <= 0 ? steps.slice(this.#short) : cutTail(steps.slice(this.#short), over);
    if (tail === undefined) return undefined;
    this.shortened = this.#short + (over > 0 ? 1 : 0);
    return [
      ...opening,
      ...(this.#gone > 0 ? noteOf(steps.slice(0, this.#gone)) : []),
      ...steps.slice(this.#gone, this.#short).map(shortened).flatMap(messagesOfStep),
      ...tail.flatMap(messagesOfStep),
    ];
  }
}

/** Where the next answer of the model is: its calls and what they answered go together. */
function nextExchange(steps: readonly StepRecord[], from: number): number {
  const next = steps.findIndex((step, n) => n > from && isAnswer(step));
  return next === -1 ? steps.length : next;
}

function shortened(step: StepRecord): StepRecord {
  const calls = step.calls.map((call) => {
    const { length } = call.arguments;
    return length <= KEPT ? call : { ...call, arguments: JSON.stringify({ left_out: `${length} characters` }) };
  });
  const thoughts = step.thoughts === undefined ? {} : { thoughts: shorten(step.thoughts, KEPT) };
  return { ...step, calls, ...thoughts, output: cut(step.output, KEPT, step.kind === "model" ? "" : CALL_AGAIN) };
}

const CALL_AGAIN = "; call the tool again if you need them";

function cut(text: string, most: number, more: string): string {
  if (text.length <= most) return text;
  const kept = shorten(text, most);
  return `${kept} [left out to save space: ${text.length - kept.length} more characters${more}]`;
}

/** The newest outputs without what is over, the longest first; undefined if that is not enough. */
function cutTail(tail: readonly StepRecord[], over: number): StepRecord[] | undefined {
  const most = tail.map(({ kind, output }) => (kind === "model" ? 0 : output.length));
  // A character that is escaped takes more than one in a request.
  let left = over;
  while (left > 0) {
    const longest = Math.max(...most);
    if (longest <= LEAST) return undefined;
    const at = most.indexOf(longest);
    const next = Math.max(LEAST, Math.min(longest - left - 2 * KEPT, Math.floor(longest / 2)));
    const step = tail[at]!;
    const before = sizeOf(messagesOfStep({ ...step, output: cut(step.output, longest, CALL_AGAIN) }));
    left -= before - sizeOf(messagesOfStep({ ...step, output: cut(step.output, next, CALL_AGAIN) }));
    most[at] = next;
  }
  return tail.map((step, n) =>
    step.kind === "model" ? step : { ...step, output: cut(step.output, most[n]!, CALL_AGAIN) },
  );
}

/** What stands in place of steps that are gone. */
function noteOf(gone: readonly StepRecord[]): Messages {
  const counts = new Map<string, number>();
  for (const { kind, name } of gone) if (kind !== "model") counts.set(name, (counts.get(name) ?? 0) + 1);
  const tools = [...counts].slice(0, NAMED).map(([name, count]) => `${name} ${count} times`);
  const more = counts.size > NAMED ? ` and ${counts.size - NAMED} others` : "";
  const called = tools.length === 0 ? "" : ` You called ${tools.join(", ")}${more}.`;
  const content = `The first ${gone.length} steps of your work are left out to save space.${called} Go on from what follows.`;
  return [{ role: "user", content }];
}

function sizeOf(messages: Messages): number {
  return JSON.stringify(messages).length;
}

function sum(sizes: readonly number[], from: number, to: number): number {
  let total = 0;
  for (let n = from; n < to; n++) total += sizes[n]!;
  return total;
}
