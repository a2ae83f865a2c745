import { serveThread } from "../../../shared/process/thread.js";
import { excessOf } from "../../../shared/rpc/json-shape.js";
import { replacedText } from "../../../shared/rpc/utf8.js";
import { MAX_REPLY_VALUES, MAX_REPLY_WORDS, TOO_MUCH } from "../reply-bounds.js";

/** Longer texts are not kept once for all places where they occur, and cost no more where they differ. */
const SHORT = 10;

const methods = {
  /**
   * The text of an answer.
   *
   * @throws Error named {@link TOO_MUCH}, with words such as "holds more than 3 values", where parsing it takes too long.
   */
  read(bytes: Uint8Array): string {
    const text = replacedText(bytes);
    const excess = excessOf(bytes, MAX_REPLY_VALUES) ?? tooManyWords(text);
    if (excess !== undefined) throw Object.assign(new Error(excess), { name: TOO_MUCH });
    return text;
  },
};

/** What the thread answers to. */
export type AnswerMethods = typeof methods;

/** Names of members, and short texts, that differ: the parser looks each of them up in a table of all that the process has. */
function tooManyWords(text: string): string | undefined {
  const words = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === "string" && value.length <= SHORT) words.add(value);
    if (typeof value !== "object" || value === null) return;
    if (!Array.isArray(value)) for (const name of Object.keys(value)) words.add(name);
    for (const inner of Object.values(value)) collect(inner);
  };
  try {
    collect(JSON.parse(text));
  } catch {
    // Not JSON: the caller of this function says so.
    return undefined;
  }
  return words.size > MAX_REPLY_WORDS
    ? `holds more than ${MAX_REPLY_WORDS} different names and short texts`
    : undefined;
}

serveThread(methods);
