import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Call } from "../../shared/rpc/call.js";
import type { Peers } from "../../shared/rpc/peers.js";
import { showHidden } from "../../shared/tools/codec/hidden-characters.js";
import { explain } from "../../shared/tools/explain.js";
import { shorten } from "../../shared/tools/shorten.js";
import type { Context } from "../context.js";
import { newEtag } from "../objects/gate.js";
import type { AskingAgents } from "./asking-agents.js";
import { forgetAsking, nameAsking } from "./asking-run.js";
import { RunEnd, RunLost } from "./ending.js";
import { KeptRights } from "./kept-rights.js";
import { type Equipment, equip } from "./load.js";
import { type Asked, ModelSteps } from "./model-step.js";
import type { Hold } from "./queue.js";
import { isAnswer, type StepRecord, type ToolCall } from "./record.js";
import { createRedactor } from "./redact.js";
import type { Rights } from "./rights.js";
import { cutText } from "./run-bytes.js";
import { sumOf } from "./spending/spent.js";
import { type Standing, standingOf } from "./standing.js";
import { ToldSteps } from "./told-steps.js";
import { argumentsOf, CUT_CALL, isCut, isOneTooMany, NOT_CALLED, questionIn } from "./tool-calls.js";
import type { AgentTool } from "./tools/agent-tool.js";
import { ASK_USER } from "./tools/ask-user.js";
import type { OwnTools } from "./tools/own-tools.js";
import { verdictOf } from "./verdict.js";
import { allowedWith, CHANGED, digestOf, pendingOf, questionOf, reasonToAsk, refusalWith } from "./word.js";
import type { Working } from "./working.js";

/** What runs are executed with. */
export interface ExecutionParts {
  readonly context: Context;
  readonly peers: Peers;
  readonly own: OwnTools;
  /** Which agents ask before they write to the outside. */
  readonly asking: AskingAgents;
}

/** How long a call of a tool may take, in milliseconds. */
const TOOL_MS = 120_000;
/** How long a question may wait for its answer, in milliseconds. */
const ANSWER_MS = 7 * 86_400_000;

/** How a run rests: with an output it is completed, without one it awaits an answer. */
export type Rest = { readonly output: string } | { readonly question: string };

/**
 * Goes on with a run from its last step: asks the model, calls what it wants
 * called, until it says no more or asks its user. Each step is on disk before the
 * next begins; before each one, the worker asks again whether the run may go on.
 *
 * @throws RunEnd where it ends otherwise; RunLost; whatever the signal was aborted with.
 */
export async function execute(hold: Hold, parts: ExecutionParts, working: Working): Promise<Rest> {
  return new Execution(hold, parts, working).run();
}

class Execution {
  readonly #redactor = createRedactor();
  #steps: StepRecord[] = [];
  #rights: KeptRights | undefined;
  #equipment: (Equipment & { readonly of: Rights }) | undefined;
  readonly #models: ModelSteps;
  readonly #told: ToldSteps;

  constructor(
    private readonly hold: Hold,
    private readonly parts: ExecutionParts,
    private readonly working: Working,
  ) {
    this.#models = new ModelSteps(parts.context, hold, working, this.#redactor);
    const { currency } = parts.context.models;
    this.#told = new ToldSteps(parts.context, parts.peers, { ...hold.run, ...(currency !== "" && { currency }) });
  }

  private get signal(): AbortSignal {
    return this.working.signal;
  }

  async run(): Promise<Rest> {
    this.#steps = await this.hold.steps();
    // A worker that was lost between a step and the run's own record left the step alone.
    if (this.#steps.length !== this.hold.run.step_count)
      await this.hold.write({ state: "running" }, { step_count: this.#steps.length, ...sumOf(this.#steps) });
    try {
      for (;;) {
        this.signal.throwIfAborted();
        const { context, peers, own } = this.parts;
        const standing = await standingOf(context, peers, this.hold.run, own.serversOf);
        const rest = await this.#next(standing, await this.#equip(standing));
        this.#told.tell(this.#steps);
        if (rest !== undefined) return rest;
      }
    } finally {
      await this.#equipment?.close();
      await this.#told.settle(this.#steps);
    }
  }

  /** What the run may use: gathered again when something was taken away, and never more than before. */
  async #equip(standing: Standing): Promise<Equipment> {
    const { context, own } = this.parts;
    this.#rights ??= await KeptRights.of(context, own, this.hold.run, standing.agent);
    const call = this.callOf(standing);
    const rights = await this.#rights.inForce(standing.agent, call);
    const before = this.#equipment;
    if (before?.of === rights) return before;
    await before?.close();
    this.#equipment = undefined;
    const { instructions } = this.#rights.agent;
    const { model } = await this.#rights.provider(standing.agent, call);
    const window = context.models.models.get(model)?.window;
    const wanted = { instructions, rights, offered: new Set(before?.tools.keys()), window };
    const parts = { ...this.parts, redactor: this.#redactor, stalls: this.hold.run.stalls };
    const equipment = await equip(wanted, call, parts);
    this.#equipment = { ...equipment, of: rights };
    this.#equipment = { ...equipment, of: await this.#rights.begin(rights, equipment.remote) };
    return this.#equipment;
  }

  async #next(standing: Standing, equipment: Equipment): Promise<Rest | undefined> {
    const last = this.#steps.at(-1);
    if (last?.state === "running") return this.#resume(last, standing, equipment);
    if (last?.kind === "model" && last.state === "failed" && !last.falls_back)
      throw new RunEnd("model_failed", last.output);
    const asked = this.#steps.findLast(isAnswer);
    const answered = new Set(this.#steps.map(({ call }) => call));
    const wanted = asked?.calls.find(({ id }) => !answered.has(id));
    if (asked !== undefined && asked.calls.length === 0) {
      const output = verdictOf(this.#steps);
      if (output !== undefined) return { output };
    }
    if (this.#steps.length >= this.hold.run.max_steps)
      throw new RunEnd(
        "step_limit",
        `it took ${this.hold.run.max_steps} steps, its maximum: set a higher max_steps with trigger_run`,
      );
    return wanted === undefined ? this.#askModel(standing, equipment) : this.#call(wanted, standing, equipment);
  }

  async #askModel(standing: Standing, { system, offeredAfter }: Equipment): Promise<undefined> {
    const steps = this.#steps;
    const rights = this.#rights!;
    const { parameters } = rights.agent;
    const asked = { system, tools: offeredAfter(steps), steps, parameters };
    steps.push(await this.#models.take({ ...asked, ...(await this.#provider(standing, rights)) }));
  }

  /** The model that is asked: once it fell back to the other one, a run stays with it. */
  async #provider({ agent, ...standing }: Standing, rights: KeptRights): Promise<Pick<Asked, "provider" | "hasOther">> {
    const call = this.callOf({ agent, ...standing });
    const fellBack = this.#steps.findLast(({ falls_back }) => falls_back);
    if (fellBack === undefined) {
      const provider = await rights.provider(agent, call);
      return { provider, hasOther: rights.hasFallback };
    }
    const provider = await rights.fallbackProvider(agent, call);
    if (provider === undefined) throw new RunEnd("model_failed", `${fellBack.output}. Its fallback model was changed`);
    return { provider, hasOther: false };
  }

  /** Begins a call: it is on disk before anything is sent. */
  async #call(wanted: ToolCall, standing: Standing, equipment: Equipment): Promise<Rest | undefined> {
    const tool = equipment.tools.get(wanted.name);
    const { name, label } = tool ?? { name: wanted.name, label: shorten(wanted.name, 100) };
    const isQuestion = name === ASK_USER.name;
    const isCalled = !isOneTooMany(wanted, this.#steps) && !isCut(wanted, this.#steps);
    const asks = isCalled && !isQuestion ? this.#asks(tool, wanted, standing) : undefined;
    const step = await this.hold.add(
      {
        kind: isQuestion ? "question" : "tool",
        name: label,
        state: "running",
        input: isQuestion ? questionIn(wanted) : wanted.arguments,
        output: "",
        calls: [],
        call: wanted.id,
        outside: tool?.readsOutside ?? false,
        ...(asks && { asks }),
        input_tokens: 0,
        output_tokens: 0,
        started_at: new Date(),
        ended_at: null,
      },
      // What was said to an earlier step is not for this one.
      { answer: null, approved: null },
    );
    this.#steps.push(step);
    if (isOneTooMany(wanted, this.#steps)) return this.#finish(step, "failed", NOT_CALLED);
    if (isCut(wanted, this.#steps)) return this.#finish(step, "failed", CUT_CALL);
    if (isQuestion || asks !== undefined) return this.#rest(step);
    return this.#send(step, wanted, standing, equipment);
  }

  /** Why a call waits for its user's word, and what the word is for; nothing for one that nobody can make. */
  #asks(tool: AgentTool | undefined, wanted: ToolCall, { agent }: Standing): StepRecord["asks"] {
    if (tool === undefined) return undefined;
    try {
      argumentsOf(wanted);
    } catch {
      return undefined;
    }
    const marked = [...(this.#rights!.agent.ask_tools ?? []), ...(agent.ask_tools ?? [])];
    const { origin } = agent;
    const reason = reasonToAsk(tool, { marked, origin, steps: this.#steps, asking: this.parts.asking });
    return reason === undefined ? undefined : { reason, digest: digestOf(tool, wanted) };
  }

  /** Goes on with a call whose user has said yes or no; one that nobody has answered rests again. */
  async #heard(
    step: StepRecord,
    wanted: ToolCall,
    standing: Standing,
    equipment: Equipment,
  ): Promise<Rest | undefined> {
    const { approved, answer } = this.hold.run;
    if (approved == null) return this.#rest(step);
    await forgetAsking(this.parts.context, this.hold.run);
    if (!approved) return this.#finish(step, "failed", refusalWith(answer ?? ""), { approved });
    const tool = equipment.tools.get(wanted.name);
    if (tool !== undefined && digestOf(tool, wanted) !== step.asks?.digest)
      return this.#finish(step, "failed", CHANGED, { approved });
    return this.#send(await this.hold.allow(step), wanted, standing, equipment);
  }

  /** Goes on with a step that was begun by a worker before. */
  async #resume(step: StepRecord, standing: Standing, equipment: Equipment): Promise<Rest | undefined> {
    if (step.kind === "question") {
      const { answer } = this.hold.run;
      if (answer === null) return this.#rest(step);
      await forgetAsking(this.parts.context, this.hold.run);
      return this.#finish(step, "completed", answer);
    }
    const wanted = this.#steps.flatMap(({ calls }) => calls).find(({ id }) => id === step.call)!;
    if (step.asks !== undefined && step.approved === undefined) return this.#heard(step, wanted, standing, equipment);
    const tool = equipment.tools.get(wanted.name);
    if (tool?.readOnly) return this.#send(step, wanted, standing, equipment);
    return this.#finish(
      step,
      "unknown",
      "the worker stopped during this call: the call may or may not have taken effect, so check before you repeat it",
    );
  }

  async #send(step: StepRecord, wanted: ToolCall, standing: Standing, { tools }: Equipment): Promise<undefined> {
    const tool = tools.get(wanted.name);
    let args: JsonObject = {};
    try {
      if (tool === undefined) throw new ConnectError("there is no such tool", Code.NotFound);
      await this.hold.check();
      args = argumentsOf(wanted);
      const text = await tool.call(args, this.callOf(standing, step));
      const words = step.approved ? allowedWith(this.hold.run.answer ?? "") : "";
      await this.#finish(step, "completed", `${words}${showHidden(text)}`);
    } catch (error) {
      this.signal.throwIfAborted();
      if (error instanceof RunLost || error instanceof RunEnd) throw error;
      const failed = ConnectError.from(error);
      const said = failed.code === Code.Unauthenticated ? failed.rawMessage : saidOf(failed, tool, args, tools);
      await this.#finish(step, "failed", showHidden(said ?? "the tool failed; the log of the service has the cause"));
    }
  }

  async #finish(
    step: StepRecord,
    state: StepRecord["state"],
    output: string,
    more: Pick<StepRecord, "approved"> = {},
  ): Promise<undefined> {
    const finished = await this.hold.finish(step, { state, output: this.#text(output), ...more });
    this.#steps[this.#steps.length - 1] = finished;
    return undefined;
  }

  async #rest(step: StepRecord): Promise<Rest> {
    const due_at = new Date(Date.now() + ANSWER_MS);
    const question = step.asks === undefined ? step.input : questionOf(step);
    const pending = step.asks === undefined ? null : pendingOf({ ...step, input: showHidden(this.#text(step.input)) });
    await nameAsking(this.parts.context, this.hold.run);
    await this.parts.context.notices.asks(this.hold.run, step);
    await this.hold.goOn({ state: "awaiting_input", question, pending, due_at, etag: newEtag() });
    return { question };
  }

  #text(text: string): string {
    return cutText(this.#redactor.redact(text));
  }

  /** A call as the user as whom the run acts. */
  callOf({ caller, assertion }: Standing, step?: StepRecord): Call {
    const { trace, root_span } = this.hold.run;
    const signal = AbortSignal.any([this.signal, AbortSignal.timeout(TOOL_MS)]);
    return {
      caller,
      assertion,
      credential: { assertion },
      signal,
      deadline: Date.now() + TOOL_MS,
      traceparent: `00-${trace}-${step?.span ?? root_span}-01`,
    };
  }
}

/** What the model is told of a failed call, with tools that it is offered. */
function saidOf(
  error: ConnectError,
  tool: AgentTool | undefined,
  args: JsonObject,
  tools: Equipment["tools"],
): string | undefined {
  if (tool?.explain === undefined) return explain(error);
  const labels = new Set([...tools.values()].map(({ label }) => label));
  return tool.explain(error, args, (label) => labels.has(label));
}
