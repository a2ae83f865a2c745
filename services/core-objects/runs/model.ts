import type OpenAI from "openai";
import type { Patience } from "../../shared/isolation/isolation.js";
import { MisbehavedError, REFUSED_ADDRESS } from "../../shared/isolation/misbehaved.js";
import type { Context } from "../context.js";
import type { ModelSettings } from "../kinds/agents/record.js";
import type { IntegrationRecord } from "../kinds/integrations/record.js";
import { leaveOut, leftOut } from "../objects/left-out.js";
import type { ModelAnswer } from "./apart/chat-answer.js";
import type { FailureKind } from "./apart/model-failure.js";
import type { ModelAddress, ModelMethods, ModelQuestion, ModelReply } from "./apart/models.js";
import { failureOf, MODELS } from "./outgoing.js";
import type { Redactor } from "./redact.js";
import { KEPT_CALLS } from "./tool-calls.js";
import type { AgentTool } from "./tools/agent-tool.js";
import { NONE, type Usage } from "./usage.js";

/** What is said to a model and by it, in the words of its API. */
export type Messages = OpenAI.Chat.Completions.ChatCompletionMessageParam[];

/** What a model said. */
export type Said = ModelAnswer;

/** What a model is asked with. */
export interface Question {
  readonly integration: IntegrationRecord;
  /** "" for none. */
  readonly credential: string;
  readonly model: string;
  readonly messages: Messages;
  readonly tools: readonly AgentTool[];
  /** How it answers; undefined for as it does by itself. */
  readonly parameters: ModelSettings | undefined;
  readonly signal: AbortSignal;
  /** How long the answer may take, in milliseconds. */
  readonly ms: number;
  /** Hears the text while it comes, as the model writes it. */
  readonly hear?: (text: string) => void;
  /** Keeps the credential out of what is told of a failure. */
  readonly redactor: Redactor;
}

/** How long a service may take for its list, in milliseconds. */
const LIST_MS = 15_000;

/** A model did not answer. The message says so in a sentence, without the credential. */
export class ModelError extends Error {
  constructor(
    readonly kind: FailureKind,
    message: string,
    /** What it took all the same. */
    readonly usage: Usage = NONE,
    /** When the service wants to be asked again, in milliseconds, if it said so. */
    readonly afterMs?: number,
    /** What the model reads at a time, in tokens, if the service said so. */
    readonly window?: number,
  ) {
    super(message);
  }
}

/**
 * Asks a model once by chat completions, as OpenAI has them.
 *
 * @throws ModelError that says why it did not answer.
 */
export async function ask(context: Context, question: Question): Promise<Said> {
  const { integration, credential, model, messages, tools, parameters, signal, ms, hear, redactor } = question;
  const sentence = (why: string): string => `the model ${model} of ${integration.name} did not answer: ${why}`;
  const why = leftOut(integration);
  if (why !== undefined) throw new ModelError("denied", sentence(`${why}; to try it again, call test_integration`));
  const offered = tools.map(({ name, description, parameters }) => ({
    type: "function" as const,
    function: { name, description, parameters },
  }));
  const request = { model, messages, ...(offered.length > 0 && { tools: offered }), ...wordsFor(parameters) };
  const asked: ModelQuestion = { ...addressOf(context, integration, credential), calls: KEPT_CALLS, request };
  let reply: ModelReply;
  try {
    reply = JSON.parse(
      await callModels(context, integration, "ask", asked, { ms, signal, ...(hear && { hear }) }),
    ) as ModelReply;
  } catch (error) {
    signal.throwIfAborted();
    const words = failureOf(error, redactor);
    const isHarmful = error instanceof MisbehavedError && error.misbehaviour === "harmful";
    if (isHarmful) await leaveOut(context, "integration", integration._id, error, words);
    const isClosed = (error as Error).name === REFUSED_ADDRESS;
    throw new ModelError(isHarmful ? "unreadable" : isClosed ? "denied" : "down", sentence(words));
  }
  if ("answer" in reply) return reply.answer;
  const { kind, usage, afterMs, window } = reply.failure;
  const words = failureOf({ message: reply.failure.why }, redactor);
  throw new ModelError(kind, sentence(words), usage, afterMs, window);
}

/** Settings in the words of chat completions. */
function wordsFor({ max_output_tokens: max_tokens, ...settings }: ModelSettings = {}): object {
  return { ...settings, ...(max_tokens !== undefined && { max_tokens }) };
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
  return JSON.parse(
    await callModels(context, integration, "list", asked, { ms: LIST_MS, signal, isRepeatable: true }),
  ) as string[];
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
