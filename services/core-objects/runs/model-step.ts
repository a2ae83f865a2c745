import { showHidden } from "../../shared/tools/codec/hidden-characters.js";
import type { Context } from "../context.js";
import type { ModelSettings } from "../kinds/agents/record.js";
import type { FailureKind } from "./apart/model-failure.js";
import { askUntilAnswered } from "./asking.js";
import { stepsFor } from "./conversation.js";
import { RunEnd, RunWaits } from "./ending.js";
import { Fitting } from "./fitting.js";
import { ask, type Messages, ModelError, type Said } from "./model.js";
import type { Provider } from "./provider.js";
import type { Hold } from "./queue.js";
import { isAnswer, type Spending, type StepRecord } from "./record.js";
import type { Redactor } from "./redact.js";
import { credentialOf } from "./secrets.js";
import { Budget, type Reservation } from "./spending/budget.js";
import { NOTHING, type Spent, spentOn, sumOf, tokensOf } from "./spending/spent.js";
import { keptCalls, uniqueCalls } from "./tool-calls.js";
import type { AgentTool } from "./tools/agent-tool.js";
import { NONE, type Usage } from "./usage.js";
import { Window } from "./window.js";
import type { Working } from "./working.js";

/** How long a worker may take to hear that the time of a run is over, in milliseconds. */
const HEARS_MS = 10_000;

/** Tokens of an answer that are reserved before its length is known. */
const RESERVED_OUTPUT = 1_024;

/** What a model is asked in one step. */
export interface Asked {
  readonly provider: Provider;
  readonly system: string;
  readonly tools: readonly AgentTool[];
  /** Of the run so far. */
  readonly steps: readonly StepRecord[];
  readonly parameters: ModelSettings | undefined;
  /** There is another model to ask if this one is unavailable. */
  readonly hasOther: boolean;
}

/** Failures after which another model is asked: the service is too busy, does not answer, or does not let us in. */
const UNAVAILABLE: ReadonlySet<FailureKind> = new Set(["busy", "down", "denied"]);

/** How often a conversation that is too long is sent again, shorter. */
const MAX_REFUSED = 8;

interface Request {
  readonly messages: Messages;
  /** With the tools. */
  readonly characters: number;
}

type Answer = Pick<Said, "text" | "calls" | "finish"> & Partial<Pick<Said, "thoughts">>;

/** Takes the steps of a run in which its model is asked, and counts what they take. */
export class ModelSteps {
  #waits: number;
  /** What requests took that no step has yet. */
  #unkept: Spent;
  readonly #budget: Budget;
  readonly #fitting = new Fitting();
  /** By model. */
  readonly #windows = new Map<string, Window>();

  constructor(
    private readonly context: Context,
    private readonly hold: Hold,
    private readonly working: Working,
    private readonly redactor: Redactor,
  ) {
    this.#waits = hold.run.waits ?? 0;
    this.#unkept = hold.run.unkept ?? NOTHING;
    this.#budget = new Budget(context, hold.run);
  }

  /**
   * Asks until there is an answer, and keeps it; or that there is none, as a failed step.
   *
   * @throws RunWaits, if the model is too busy; RunEnd; RunLost.
   */
  async take(asked: Asked): Promise<StepRecord> {
    const started_at = new Date();
    try {
      return await this.#keep(await this.#answer(asked), asked, { started_at });
    } catch (error) {
      if (error instanceof RunWaits) throw new RunWaits(error.ms, error.waits, error.message, this.#unkept);
      if (!(error instanceof ModelError)) {
        await this.#keepUnkept(asked);
        if (!(error instanceof RunEnd) || error.reason !== "budget") throw error;
        throw new RunEnd("budget", error.message, asked.steps.findLast(isAnswer)?.output);
      }
      const fallsBack = asked.hasOther && UNAVAILABLE.has(error.kind);
      const failed = { started_at, state: "failed", ...(fallsBack && { falls_back: true as const }) } as const;
      return this.#keep({ text: error.message, calls: [], finish: "stop" }, asked, failed);
    }
  }

  /** Asks, with less of the conversation each time that it is too long. */
  async #answer(asked: Asked): Promise<Said> {
    const { signal } = this.working;
    const left = (): number => this.hold.run.timeout_ms - this.working.worked();
    for (let refused = 0; ; refused++) {
      const request = this.#fitted(asked);
      try {
        return await askUntilAnswered({
          ...{ signal, left, waits: this.#waits, hasOther: asked.hasOther },
          ask: async () => {
            await this.hold.check();
            return this.#request(asked, request, Math.max(0, left()) + HEARS_MS);
          },
        });
      } catch (error) {
        if (!(error instanceof ModelError) || error.kind !== "full" || refused === MAX_REFUSED) throw error;
        this.#windowOf(asked).refused(request.characters, error.window);
      }
    }
  }

  /** The conversation as its model takes it. @throws ModelError, if it takes none. */
  #fitted(asked: Asked): Request {
    const { provider, system, tools, steps, parameters } = asked;
    const window = this.#windowOf(asked);
    const ofTools = JSON.stringify(tools).length;
    const room = window.characters(parameters?.max_output_tokens) - ofTools;
    const messages = this.#fitting.fit(system, this.hold.run, stepsFor(provider.model, steps), room);
    if (messages !== undefined) return { messages, characters: JSON.stringify(messages).length + ofTools };
    throw new ModelError(
      "refused",
      `the model ${provider.model} of ${provider.integration.name} reads ${window.tokens} tokens at a time, and the agent's instructions, tools and task do not fit: shorten them, or choose a model that reads more with update_agent`,
    );
  }

  #windowOf({ provider: { model } }: Pick<Asked, "provider">): Window {
    const found = this.#windows.get(model);
    if (found !== undefined) return found;
    const { run } = this.hold;
    const learned = run.model === model ? run.window : undefined;
    const window = new Window(learned ?? this.context.models.models.get(model)?.window);
    this.#windows.set(model, window);
    return window;
  }

  async #request(asked: Asked, { messages, characters }: Request, ms: number): Promise<Said> {
    const { provider, tools, steps, parameters } = asked;
    const { context, redactor } = this;
    const { integration, model } = provider;
    const credential = credentialOf(context, integration, redactor);
    const { signal } = this.working;
    const window = this.#windowOf(asked);
    const inputTokens = window.about(characters);
    const outputTokens = parameters?.max_output_tokens ?? RESERVED_OUTPUT;
    const about = spentOn(context.models, model, { ...NONE, inputTokens, outputTokens });
    const reserved = await this.#budget.reserve(provider, about, sumOf([...steps, this.#unkept]));
    const { live, end } = context.live.begin(this.hold.run._id, redactor);
    try {
      const question = { integration, credential, model, messages, tools, parameters };
      const said = await ask(context, { ...question, signal, redactor, ms, hear: (text) => live.add(text) });
      if (!said.isEstimated) window.took(characters, said.inputTokens);
      await this.#count(model, said, reserved);
      return said;
    } catch (error) {
      if (error instanceof ModelError) await this.#count(model, error.usage, reserved);
      throw error;
    } finally {
      end();
    }
  }

  async #count(model: string, usage: Usage, reserved: Reservation): Promise<void> {
    const spent = spentOn(this.context.models, model, usage);
    this.#unkept = sumOf([this.#unkept, spent]);
    const { cost_nanos: nanos, unpriced } = spent;
    // An answer that was paid is kept, whatever the store says of its count: what was reserved then stays counted.
    await this.#budget.settle(reserved, { tokens: tokensOf(spent), nanos, unpriced }).catch(() => undefined);
  }

  async #keep(
    { text, calls: wanted, finish, thoughts = "" }: Answer,
    asked: Asked,
    facts: Pick<StepRecord, "started_at" | "falls_back"> & { readonly state?: "failed" },
  ): Promise<StepRecord> {
    const { model } = asked.provider;
    // Calls of an answer that was filtered, refused or failed are not what the model meant.
    const isWhole = finish === "stop" || finish === "length";
    const calls = isWhole ? uniqueCalls(keptCalls(wanted, this.redactor), asked.steps) : [];
    const output = showHidden(this.redactor.redact(text));
    const spent = this.#unkept;
    const window = this.#windowOf(asked).tokens;
    const totals = {
      ...{ model, ...this.#totals(asked) },
      ...(window !== undefined && { window }),
      ...(this.hold.run.unkept !== undefined && { unkept: NOTHING }),
    };
    const { shortened } = this.#fitting;
    const step = { kind: "model", name: model, state: "completed", input: "", call: "", ended_at: new Date() } as const;
    const how = { ...(finish !== "stop" && { finish }), ...(shortened > 0 && { shortened }), output, calls, ...spent };
    const kept = thoughts === "" ? {} : { thoughts: this.redactor.redact(thoughts) };
    const added = await this.hold.add({ ...step, ...facts, ...how, ...kept }, totals);
    this.#waits = 0;
    this.#unkept = NOTHING;
    return added;
  }

  #totals({ steps }: Asked): Spending & { readonly currency?: string } {
    const { currency } = this.context.models;
    return { ...sumOf([...steps, this.#unkept]), ...(currency !== "" && { currency }) };
  }

  /** The run ends, or another worker goes on with it: what was paid for nothing stays counted. */
  async #keepUnkept(asked: Asked): Promise<void> {
    if (tokensOf(this.#unkept) === 0) return;
    const set = { ...this.#totals(asked), unkept: this.#unkept };
    await this.hold.write({ state: "running" }, set).catch(() => undefined);
  }
}
