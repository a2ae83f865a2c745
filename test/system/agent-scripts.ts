import { afterAll, beforeAll, expect } from "vitest";
import { type Asked, type Reply, results, startModel } from "../services/core-objects/runs/model-server.js";
import { call } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Agents made from the templates that ship work as their skills tell them to, on the built-in platforms:
// a model that follows the skill word by word calls the real tools, asks before it writes, and writes.

/** What a tool answered, which each of the steps knows its way in. */
export type Answer = Record<string, ReturnType<typeof JSON.parse>>;
/** What the tools answered so far, by the name of the function; of several the last. */
export type Answers = Readonly<Record<string, Answer>>;
export type Step = (said: Answers) => Extract<Reply, { readonly call: string }> | string;

interface Run {
  readonly id: string;
  readonly state: string;
  readonly question?: string;
  readonly output?: string;
  readonly error?: object;
}

/** Agents of the templates at work. */
export interface Scripts {
  /** Calls a tool as the person whose agents they are. */
  on<T = Answer>(server: string, tool: string, args?: object): Promise<T>;
  /** Has an agent of a template work by the script until it asks, and again after a yes; what its tools said. */
  work(template: string, input: string, script: readonly Step[]): Promise<Answers>;
  /** Has one work by the script that only reads, to its answer; what its tools said. */
  read(template: string, input: string, script: readonly Step[]): Promise<Answers>;
}

/** Starts the program and a model before the tests of a file, and ends them after. */
export function builtinAgents(): Scripts {
  let program: Program;
  let model: Awaited<ReturnType<typeof startModel>>;
  let integration: string;
  const scripts = new Map<string, readonly Step[]>();

  beforeAll(async () => {
    model = await startModel(follow);
    program = await startProgram();
    const request = { name: "Models", type: "openai", endpoint: `${model.url}/v1`, models: ["large"] };
    integration = (await core<{ integration: { id: string } }>("create_integration", request)).integration.id;
  });
  afterAll(async () => {
    await program?.stop();
    await model?.close();
  });

  const on = <T = Answer>(server: string, tool: string, args: object = {}): Promise<T> =>
    call<T>(`${program.baseUrl}/mcp/${server}`, program.bootstrap.analyst.api_key, tool, args);
  const core = <T>(tool: string, args: object): Promise<T> => on<T>("core", tool, args);

  /** The next step of the script that the run was begun with. */
  function follow(asked: Asked): Reply {
    const script = scripts.get(asked.messages[1]!.content!)!;
    const said = results(asked).map((text, n) => [called(asked)[n]!, parsed(text)] as const);
    try {
      return script[said.length]!(Object.fromEntries(said));
    } catch (error) {
      return `The script cannot go on: ${error} after ${JSON.stringify(said.at(-1))}`;
    }
  }

  async function rested(id: string): Promise<Run> {
    for (;;) {
      const { run } = await core<{ run: Run }>("get_run", { run_id: id });
      if (!["queued", "running"].includes(run.state)) return run;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function began(template: string, input: string, script: readonly Step[]): Promise<Run> {
    scripts.set(input, script);
    const request = { name: input, template_id: template, resource_ids: [integration] };
    const { agent } = await core<{ agent: { id: string } }>("create_agent", request);
    const { run } = await core<{ run: Run }>("trigger_run", { agent_id: agent.id, input });
    return rested(run.id);
  }

  async function tools(run: Run): Promise<{ name: string; state: string; output?: string }[]> {
    const { steps } = await core<{ steps: { kind: string; name: string; state: string; output?: string }[] }>(
      "list_run_steps",
      { run_id: run.id, page_size: 100 },
    );
    const used = steps.filter(({ kind }) => kind !== "model");
    expect(used.filter(({ state }) => state === "failed").map(({ name, output }) => `${name}: ${output}`)).toEqual([]);
    return used;
  }

  function answers(): Answers {
    const last = model.asked.at(-1)!;
    return Object.fromEntries(results(last).map((text, n) => [called(last)[n]!, parsed(text)]));
  }

  return {
    on,
    async work(template, input, script) {
      const asking = await began(template, input, script);
      const before = await tools(asking);
      expect(asking.output).toBeUndefined();
      expect(asking).toMatchObject({ state: "awaiting_input", question: expect.stringContaining("?") });
      expect(before.filter(({ name }) => WRITES.test(name))).toEqual([]);
      await core("update_run", { run_id: asking.id, answer: "Yes." });
      expect(await rested(asking.id)).toMatchObject({ state: "completed", output: DONE });
      const after = await tools(asking);
      expect(after.map(({ name, state }) => `${name} ${state}`)).toEqual(after.map(({ name }) => `${name} completed`));
      return answers();
    },
    async read(template, input, script) {
      const run = await began(template, input, script);
      const used = await tools(run);
      expect(run).toMatchObject({ state: "completed", output: DONE });
      expect(used.filter(({ name }) => WRITES.test(name))).toEqual([]);
      return answers();
    },
  };
}

const WRITES = /\/(?:create|update|link|attach|add|delete|set)_/;
const DONE = "Done as shown.";

const called = ({ messages }: Asked): string[] =>
  messages.flatMap(({ tool_calls = [] }) => tool_calls.map((one) => one.function.name));

function parsed(text: string | null): Answer {
  try {
    return JSON.parse(text!).structuredContent ?? JSON.parse(text!);
  } catch {
    return { text };
  }
}

/** A call whose arguments are made of what was said before. */
export const tool =
  (name: string, args: (said: Answers) => object = () => ({})): Step =>
  (said) => ({ call: name, args: args(said) });
/** The two calls that every script begins with. */
export const begin = (skill: string, path: string): Step[] => [
  tool("load_skill", () => ({ skill })),
  tool("read_skill_resource", () => ({ skill, path })),
];
export const ask = tool("ask_user", () => ({ question: "Shall I record it as shown?" }));
export const done: Step = () => DONE;
