import { type APIError, OpenAI } from "openai";
import {
  createBoundedFetch,
  dispatcherOf,
  plainError,
  wordsOf,
} from "../../../shared/isolation/apart/bounded-fetch.js";
import type { JsonBounds } from "../../../shared/isolation/json-bounds.js";
import { MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import type { OutgoingPolicy } from "../../../shared/outgoing/policy.js";
import { serveThread } from "../../../shared/process/thread.js";

// The client of services of models: chat completions, as OpenAI has them.

/** Bounds of one answer. */
const ANSWER: JsonBounds = { bytes: 8 * 2 ** 20, depth: 64, nodes: 100_000 };
/** How long a model may take for an answer, and how often it is asked again where it is overloaded. */
const ANSWER_MS = 180_000;
const RETRIES = 2;
/** Characters of what is kept of an answer. */
const MAX_TEXT = 128 * 1024;
const MAX_ARGUMENTS = 64 * 1024;
const MAX_NAME = 256;
/** Models of a list. */
const MAX_MODELS = 2_000;

/** Where models are. */
export interface ModelAddress {
  readonly endpoint: string;
  /** "" for none. */
  readonly credential: string;
  readonly policy: OutgoingPolicy;
}

/** What is asked of a model. */
export interface ModelQuestion extends ModelAddress {
  /** Calls that are read of its answer. */
  readonly calls: number;
  readonly request: OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;
}

/** What a model said, within bounds. */
export interface ModelAnswer {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const methods = {
  /** Asks a model. @param asked ModelQuestion. @returns ModelAnswer. */
  async ask(asked: string, signal: AbortSignal): Promise<string> {
    const { request, calls, ...address } = JSON.parse(asked) as ModelQuestion;
    return JSON.stringify(
      await answered(async () => saidOf(await clientOf(address).chat.completions.create(request, { signal }), calls)),
    );
  },

  /** The models that a service offers, by their names. @param asked ModelAddress. */
  async list(asked: string, signal: AbortSignal): Promise<string> {
    const client = clientOf(JSON.parse(asked) as ModelAddress);
    const { data } = await answered(() => client.models.list({ signal, maxRetries: 0 }));
    return JSON.stringify(data.slice(0, MAX_MODELS).map(({ id }) => String(id).slice(0, MAX_NAME)));
  },
};

/** What the thread answers to. */
export type ModelMethods = typeof methods;

function clientOf({ endpoint, credential, policy }: ModelAddress): OpenAI {
  return new OpenAI({
    // It wants one; a model that takes none ignores it.
    apiKey: credential === "" ? "none" : credential,
    baseURL: endpoint,
    fetch: createBoundedFetch(dispatcherOf(policy), ANSWER),
    maxRetries: RETRIES,
    timeout: ANSWER_MS,
    organization: null,
    project: null,
    logLevel: "off",
  });
}

async function answered<T>(ask: () => PromiseLike<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const plain = plainError(error);
    if (plain instanceof MisbehavedError) throw plain;
    const { status, message } = error as Partial<APIError>;
    if (status === 401 || status === 403)
      throw new Error(`it refused the credential (HTTP ${status}): set another one with update_integration`);
    throw typeof status === "number" ? new Error(`HTTP ${wordsOf({ message: message ?? String(status) })}`) : plain;
  }
}

function saidOf({ choices, usage }: OpenAI.Chat.Completions.ChatCompletion, most: number): ModelAnswer {
  const message = choices?.[0]?.message;
  if (message === undefined || message === null) throw new Error("its answer contains no message");
  const wanted = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const calls = wanted.flatMap((call) =>
    call.type === "function"
      ? [
          {
            id: String(call.id).slice(0, MAX_NAME),
            name: String(call.function.name).slice(0, MAX_NAME),
            arguments: String(call.function.arguments).slice(0, MAX_ARGUMENTS),
          },
        ]
      : [],
  );
  return {
    text: String(message.content ?? message.refusal ?? "").slice(0, MAX_TEXT),
    calls: calls.slice(0, most),
    inputTokens: tokens(usage?.prompt_tokens),
    outputTokens: tokens(usage?.completion_tokens),
  };
}

function tokens(count: unknown): number {
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0;
}

serveThread(methods, "at once");
