import { shorten } from "../../shared/tools/shorten.js";
import { RunEnd } from "./ending.js";
import { isAnswer, type StepRecord } from "./record.js";

// What becomes of a run whose model wants nothing called: it has answered, is asked to go on, or failed as what it is.

/** How often a cut answer is continued, and an empty one asked for again. */
const MAX_CONTINUED = 4;
const MAX_EMPTY = 1;
const SHOWN = 300;

/**
 * What the last answers of a model come to.
 *
 * @param steps of which the last one is an answer without calls.
 * @returns the output; undefined if the model is asked to go on.
 * @throws RunEnd, if it was filtered, refused, empty, or cut more often than it is continued.
 */
export function verdictOf(steps: readonly StepRecord[]): string | undefined {
  const answers = lastAnswers(steps);
  const { finish, output: last, name } = answers.at(-1) as StepRecord;
  const output = answers.map((step) => step.output).join("");
  if (finish === "filtered")
    throw new RunEnd(
      "filtered",
      `the provider of the model ${name} filtered its answer: word the task differently, or choose another model with update_agent`,
      output,
    );
  if (finish === "refused") {
    const said = last === "" ? "" : `, and said: ${shorten(last, SHOWN)}`;
    throw new RunEnd("refused", `the model ${name} refused the task${said}`, output);
  }
  if (finish === "error")
    throw new RunEnd("model_failed", `the model ${name} failed while it answered: trigger the run again`, output);
  if (finish === "length") {
    if (last === "")
      throw new RunEnd(
        "cut",
        `the model ${name} reached its maximum length before it wrote an answer: allow it a longer one, or give it a smaller task`,
        output,
      );
    if (answers.length <= MAX_CONTINUED) return undefined;
    throw new RunEnd(
      "cut",
      `the answer is not complete: it reached the model's maximum length ${answers.length} times. output has what was written; give the agent a smaller task`,
      output,
    );
  }
  if (output.trim() !== "") return output;
  if (answers.length <= MAX_EMPTY) return undefined;
  throw new RunEnd(
    "empty",
    `the model ${name} gave an empty answer ${answers.length} times: trigger the run again, or choose another model with update_agent`,
  );
}

/** The answers that belong together: each after the first continues one that was cut or empty. */
function lastAnswers(steps: readonly StepRecord[]): StepRecord[] {
  const from = steps.findLastIndex(({ kind, calls }) => kind !== "model" || calls.length > 0);
  return steps.slice(from + 1).filter(isAnswer);
}
