import type OpenAI from "openai";
import type { APIError } from "openai";
import type { IntegrationRecord } from "../kinds/integrations/record.js";
import { RunEnd } from "./ending.js";
import { failureOf, type Outgoing } from "./outgoing.js";
import type { RunRecord, StepRecord, ToolCall } from "./record.js";
import type { Redactor } from "./redact.js";
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
  readonly integration: Pick<IntegrationRecord, "name" | "endpoint">;
  /** "" for none. */
  readonly credential: string;
  readonly model: string;
  readonly messages: Messages;
  readonly tools: readonly AgentTool[];
  readonly signal: AbortSignal;
  /** Keeps the credential out of what is told of a failure. */
  readonly redactor: Redactor;
}

/** How long a model may take for an answer, and how often it is asked again where it is overloaded. */
const ANSWER_MS = 180_000;
const RETRIES = 2;

/**
 * Asks a model by chat completions, as OpenAI has them.
 *
 * @throws RunEnd model_failed that says why, without the credential.
 */
export async function ask(outgoing: Outgoing, question: Question): Promise<Said> {
  const { integration, credential, model, messages, tools, signal, redactor } = question;
  const client = await clientOf(outgoing, integration, credential);
  const offered = tools.map(({ name, description, parameters }) => ({
    type: "function" as const,
    function: { name, description, parameters },
  }));
  const request = { model, messages, ...(offered.length > 0 && { tools: offered }) };
  try {
    // The SDK leaves a listener behind on what it is given.
    return saidOf(await client.chat.completions.create(request, { signal: AbortSignal.any([signal]) }));
  } catch (error) {
    signal.throwIfAborted();
    throw new RunEnd(
      "model_failed",
      `the model ${model} of ${integration.name} did not answer: ${whyOf(error, redactor)}`,
    );
  }
}

/** What a service of models is asked with. */
export type ListQuestion = Pick<Question, "integration" | "credential" | "signal" | "redactor">;

/**
 * The models that a service offers, by their names.
 *
 * @throws Error that says why it did not answer, without the credential.
 */
export async function listModels(outgoing: Outgoing, question: ListQuestion): Promise<string[]> {
  const { integration, credential, signal, redactor } = question;
  const client = await clientOf(outgoing, integration, credential);
  try {
    const { data } = await client.models.list({ signal, maxRetries: 0 });
    return data.map(({ id }) => String(id));
  } catch (error) {
    throw new Error(whyOf(error, redactor));
  }
}

async function clientOf(
  { fetch }: Outgoing,
  { endpoint }: Question["integration"],
  credential: string,
): Promise<OpenAI> {
  // Only who asks models loads it.
  const { OpenAI } = await import("openai");
  return new OpenAI({
    // It wants one; a model that takes none ignores it.
    apiKey: credential === "" ? "none" : credential,
    baseURL: endpoint,
    fetch,
    maxRetries: RETRIES,
    timeout: ANSWER_MS,
    organization: null,
    project: null,
    logLevel: "off",
  });
}

function saidOf({ choices, usage }: OpenAI.Chat.Completions.ChatCompletion): Said {
  const message = choices?.[0]?.message;
  if (message === undefined) throw new Error("its answer holds no message");
  const calls = (message.tool_calls ?? []).flatMap((call): ToolCall[] =>
    call.type === "function"
      ? [{ id: String(call.id), name: String(call.function.name), arguments: String(call.function.arguments) }]
      : [],
  );
  return {
    text: message.content ?? message.refusal ?? "",
    calls,
    inputTokens: tokens(usage?.prompt_tokens),
    outputTokens: tokens(usage?.completion_tokens),
  };
}

function tokens(count: unknown): number {
  return typeof count === "number" && Number.isInteger(count) && count > 0 ? count : 0;
}

function whyOf(error: unknown, redactor: Redactor): string {
  const { status, message } = error as Partial<APIError>;
  if (status === 401 || status === 403) return `it refused the credential (HTTP ${status}): update_integration`;
  if (typeof status === "number")
    return `HTTP ${message === undefined ? status : redactor.redact(message).slice(0, 300)}`;
  return failureOf(error, redactor);
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
