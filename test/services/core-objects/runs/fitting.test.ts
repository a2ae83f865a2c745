import { expect, test } from "vitest";
import { Fitting } from "../../../../services/core-objects/runs/fitting.js";
import type { RunRecord, StepRecord } from "../../../../services/core-objects/runs/record.js";

const RUN = { input: "Look." } as RunRecord;

/** So many exchanges: calls of a model, and what the tools answered. */
function exchanges(count: number, outputs: number, characters: number): StepRecord[] {
  const steps: StepRecord[] = [];
  for (let n = 0; n < count; n++) {
    const calls = Array.from({ length: outputs }, (_, at) => ({
      ...{ id: `c${n}.${at}`, name: "look_up", arguments: JSON.stringify({ host: "x".repeat((n * 97) % 600) }) },
    }));
    steps.push({ kind: "model", name: "large", state: "completed", output: "I look.", calls, call: "" } as never);
    for (const { id } of calls)
      steps.push({
        kind: "tool",
        name: "look_up",
        state: "completed",
        output: `"${id}" `.repeat(characters / 8),
        calls: [],
        call: id,
      } as never);
  }
  return steps;
}

type Message = {
  role: string;
  content: string;
  tool_call_id?: string;
  tool_calls?: { id: string; function: { arguments: string } }[];
};

/** Providers refuse a conversation whose answers of tools have no call before them, or whose arguments are no JSON. */
function expectWhole(messages: readonly Message[]): void {
  let open: string[] = [];
  for (const { role, tool_call_id, tool_calls } of messages) {
    if (role === "tool") {
      expect(open).toContain(tool_call_id);
      open = open.filter((id) => id !== tool_call_id);
    } else {
      expect(open).toEqual([]);
      for (const call of tool_calls ?? []) JSON.parse(call.function.arguments);
      open = (tool_calls ?? []).map(({ id }) => id);
    }
  }
  expect(open).toEqual([]);
}

test("what fits is not touched", () => {
  const messages = new Fitting().fit("You look.", RUN, exchanges(5, 2, 400), 100_000)!;
  expect(messages).toHaveLength(2 + 5 * 3);
  expect(JSON.stringify(messages)).not.toMatch(/left out/);
});

test.each([
  [10, 1, 2_000, 12_000],
  [60, 1, 2_000, 9_000],
  [60, 3, 800, 12_000],
  [3, 8, 20_000, 20_000],
  [1, 1, 30_000, 6_000],
  [120, 1, 100, 5_000],
])("%i exchanges of %i outputs of %i characters fit into %i, step by step", (count, outputs, characters, most) => {
  const fitting = new Fitting();
  const all = exchanges(count, outputs, characters);
  let [changes, begun] = [0, ""];
  for (let upTo = 0; upTo <= all.length; upTo += outputs + 1) {
    const messages = fitting.fit("You look.", RUN, all.slice(0, upTo), most) as unknown as Message[];
    expect(JSON.stringify(messages).length).toBeLessThanOrEqual(most);
    expect(messages.slice(0, 2).map(({ content }) => content)).toEqual(["You look.", "Look."]);
    expectWhole(messages);
    const beginning = JSON.stringify(messages.slice(0, 3));
    if (begun !== "" && beginning !== begun) changes++;
    begun = beginning;
  }
  // What went stays gone for a while: a provider that has the beginning in its cache finds it again.
  expect(changes).toBeLessThan(count * 0.6 + 3);
});

test("older outputs keep their beginning and a note, and the newest stay whole", () => {
  const steps = exchanges(10, 1, 2_000);
  const fitting = new Fitting();
  const messages = fitting.fit("You look.", RUN, steps, 12_000) as unknown as Message[];
  const tools = messages.filter(({ role }) => role === "tool");
  expect(tools[0]!.content).toMatch(
    /^"c0\.0" .* \[left out to save space: \d+ more characters; call the tool again if you need them\]$/s,
  );
  expect(tools.at(-1)!.content).toBe(steps.at(-1)!.output);
  expect(fitting.shortened).toBeGreaterThan(8);
});

test("steps that are gone are named by their tools; what does not fit at all is said to", () => {
  const messages = new Fitting().fit("You look.", RUN, exchanges(60, 1, 2_000), 6_000) as unknown as Message[];
  expect(messages[2]!.content).toMatch(
    /^The first \d+ steps of your work are left out to save space\. You called look_up \d+ times\./,
  );
  expect(new Fitting().fit("x".repeat(5_000), RUN, exchanges(2, 1, 400), 4_000)).toBeUndefined();
});
