import type { Messages } from "./model.js";
import type { RunRecord, StepRecord } from "./record.js";

// What a model is told: the run so far, in the words of chat completions.

/** What the model is told after an answer that was cut. */
export const CONTINUE =
  "Your answer was cut at its maximum length. Continue exactly where it stopped, and repeat nothing.";
/** What the model is told after an answer without any text. */
const ANSWER = "Your answer was empty. Answer the task, or call a tool.";

/** What a conversation begins with: who the model is, and its task. */
export function openingOf(system: string, { input }: RunRecord): Messages {
  return [
    { role: "system", content: system },
    { role: "user", content: input },
  ];
}

/** The steps as a model is told them: what others wanted back is not for it. */
export function stepsFor(model: string, steps: readonly StepRecord[]): readonly StepRecord[] {
  return steps.map(({ thoughts, ...step }) => {
    if (step.kind !== "model" || step.name === model) return thoughts === undefined ? step : { ...step, thoughts };
    return { ...step, calls: step.calls.map(({ extra, ...call }) => call) };
  });
}

/** What a step adds to it. */
export function messagesOfStep(step: StepRecord): Messages {
  if (step.falls_back) return [];
  if (step.kind !== "model") return [{ role: "tool", tool_call_id: step.call, content: step.output }];
  const thoughts = step.thoughts === undefined ? {} : { reasoning_content: step.thoughts };
  if (step.calls.length > 0) {
    const tool_calls = step.calls.map(({ id, name, arguments: text, extra }) => ({
      id,
      type: "function" as const,
      function: { name, arguments: text },
      ...(extra !== undefined && { extra_content: JSON.parse(extra) as unknown }),
    }));
    return [{ role: "assistant", content: step.output, tool_calls, ...thoughts }];
  }
  // An answer after which the model is asked again was cut or empty; some services refuse a message without text.
  const next = step.finish === "length" ? CONTINUE : ANSWER;
  const said: Messages = step.output === "" ? [] : [{ role: "assistant", content: step.output, ...thoughts }];
  return [...said, { role: "user", content: next }];
}
