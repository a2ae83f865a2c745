import type OpenAI from "openai";
import type { Patience } from "../../shared/isolation/isolation.js";
import { MisbehavedError } from "../../shared/isolation/misbehaved.js";
import type { Context } from "../context.js";
import type { IntegrationRecord } from "../kinds/integrations/record.js";
import { leaveOut, leftOut } from "../objects/left-out.js";
import type { ModelAddress, ModelAnswer, ModelMethods, ModelQuestion } from "./apart/models.js";
import { RunEnd } from "./ending.js";
import { failureOf, MODELS } from "./outgoing.js";
import type { RunRecord, StepRecord, ToolCall } from "./record.js";
import type { Redactor } from "./redact.js";
import { KEPT_CALLS } from "./tool-calls.js";
import type { AgentTool } from "./tools/agent-tool.js";

/** What is said to a model and by it, in the words of its API. */
export type Messages = OpenAI.Chat.Completions.ChatCompletionMessageParam[];

/** What a model said. */
export interface Said {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a model is asked with. */
export interface Question {
  readonly integration: IntegrationRecord;
  /** "" for none. */
  readonly credential: string;
  readonly model: string;
  readonly messages: Messages;
  readonly tools: readonly AgentTool[];
  readonly signal: AbortSignal;
  /** Keeps the credential out of what is told of a failure. */
  readonly redactor: Redactor;
}

/** How long a model may take for its answer, and a service for its list, tries that are repeated included, in milliseconds. */
const ANSWER_MS = 240_000;
const LIST_MS = 15_000;

/**
 * Asks a model by chat completions, as OpenAI has them.
 *
 * @throws RunEnd model_failed that says why, without the credential.
 */
export async function ask(context: Context, question: Question): Promise<Said> {
  const { integration, credential, model, messages, tools, signal, redactor } = question;
  const failed = (why: string): RunEnd =>
    new RunEnd("model_failed", `the model ${model} of ${integration.name} did not answer: ${why}`);
  const why = leftOut(integration);
  if (why !== undefined) throw failed(`${why}; to try it again, call test_integration`);
  const offered = tools.map(({ name, description, parameters }) => ({
    type: "function" as const,
    function: { name, description, parameters },
  }));
  const request = { model, messages, ...(offered.length > 0 && { tools: offered }) };
  const asked: ModelQuestion = { ...addressOf(context, integration, credential), calls: KEPT_CALLS, request };
  try {
    const answer = await callModels(context, integration, "ask", asked, { ms: ANSWER_MS, signal });
    return JSON.parse(answer) as ModelAnswer;
  } catch (error) {
    signal.throwIfAborted();
    const words = failureOf(error, redactor);
    if (error instanceof MisbehavedError && error.misbehaviour === "harmful")
      await leaveOut(context, "integration", integration._id, error, words);
    throw failed(words);
  }
}

/** What a service of models is asked with. */
export type ListQuestion = Pick<Question, "integration" | "credential" | "signal">;

/**
 * The models that a service offers, by their names as it says them.
 *
 * @throws Error that says why it did not answer; it may hold the credential.
 */
export async function listModels(context: Context, question: ListQuestion): Promise<string[]> {
  const { integration, credential, signal } = question;
  const asked = addressOf(context, integration, credential);
  return JSON.parse(await callModels(context, integration, "list", asked, { ms: LIST_MS, signal })) as string[];
}

function addressOf({ outgoing: policy }: Context, { endpoint }: IntegrationRecord, credential: string): ModelAddress {
  return { endpoint, credential, policy };
}

async function callModels(
  { isolation }: Context,
  { _id: id, owner }: IntegrationRecord,
  method: keyof ModelMethods,
  asked: ModelAddress,
  patience: Patience,
): Promise<string> {
  return (await isolation.call(MODELS, { id, owner }, method, JSON.stringify(asked), patience)) as string;
}

/** The conversation of a run so far. */
export function messagesOf(system: string, { input }: RunRecord, steps: readonly StepRecord[]): Messages {
  return [
    { role: "system", content: system },
    { role: "user", content: input },
    ...steps.map((step): Messages[number] => {
      if (step.kind !== "model") return { role: "tool", tool_call_id: step.call, content: step.output };
      if (step.calls.length === 0) return { role: "assistant", content: step.output };
      const tool_calls = step.calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function" as const,
        function: { name, arguments: text },
      }));
      return { role: "assistant", content: step.output, tool_calls };
    }),
  ];
}
