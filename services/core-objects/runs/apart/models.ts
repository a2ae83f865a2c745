import { type APIError, OpenAI } from "openai";
import { createBoundedFetch, dispatcherOf, plainError } from "../../../shared/isolation/apart/bounded-fetch.js";
import type { JsonBounds } from "../../../shared/isolation/json-bounds.js";
import { MisbehavedError, REFUSED_ADDRESS } from "../../../shared/isolation/misbehaved.js";
import type { OutgoingPolicy } from "../../../shared/outgoing/policy.js";
import { serveThread } from "../../../shared/process/thread.js";
import { estimatedTokens } from "../estimated-tokens.js";
import { NONE } from "../usage.js";
import { answerOf, type ModelAnswer, readAnswer } from "./chat-answer.js";
import { readStream } from "./chat-stream.js";
import { failureOf, failureOfRequest, type ModelFailure } from "./model-failure.js";
import { isAboutIds, withShortIds } from "./short-ids.js";
import { plainlyTold } from "./told-plainly.js";

// The client of services of models: chat completions, as OpenAI has them. One call is one request: whoever asks
// decides whether to ask again, since each request may cost money.

/** Bounds of one answer that comes at once, and of one that comes piece by piece, with a frame around each word. */
const ANSWER: JsonBounds = { bytes: 8 * 2 ** 20, depth: 64, nodes: 100_000 };
const STREAM: JsonBounds = { bytes: 64 * 2 ** 20, depth: 64, nodes: 8_000_000 };
/** How long a service may be silent before its answer begins, in milliseconds. */
const SILENT_MS = 180_000;
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
  readonly request: object;
}

/** What came of a request. */
export type ModelReply = { readonly answer: ModelAnswer } | { readonly failure: ModelFailure };

/**
 * Models, by endpoint and name, that refused to answer piece by piece, that call max_tokens by its newer name, or that
 * take short ids of calls alone.
 */
const atOnce = new Set<string>();
const renamed = new Set<string>();
const shortIds = new Set<string>();

const methods = {
  /** Asks a model once. @param asked ModelQuestion. @param tell hears the text as it comes. @returns ModelReply. */
  async ask(asked: string, signal: AbortSignal, tell: (text: string) => void): Promise<string> {
    const { request, calls, ...address } = JSON.parse(asked) as ModelQuestion;
    const characters = JSON.stringify(request).length;
    let reply: ModelReply;
    try {
      reply = { answer: await answerTo(address, request, { signal, characters, calls, tell }) };
    } catch (error) {
      if (signal.aborted) throw plainError(error);
      const plain = plainError(error);
      // Of these the caller tells others: of a remote that misbehaves, and of an address that is closed.
      if (plain instanceof MisbehavedError || plain.name === REFUSED_ADDRESS) throw plain;
      const estimate = { ...NONE, inputTokens: estimatedTokens(characters) };
      reply = isFiltered(error) ? { answer: FILTERED } : { failure: failureOfRequest(error, request, estimate) };
    }
    return JSON.stringify(reply);
  },

  /** The models that a service offers, by their names. @param asked ModelAddress. */
  async list(asked: string, signal: AbortSignal): Promise<string> {
    const client = clientOf(JSON.parse(asked) as ModelAddress, ANSWER);
    try {
      const { data } = await client.models.list({ signal });
      return JSON.stringify(data.slice(0, MAX_MODELS).map(({ id }) => String(id).slice(0, MAX_NAME)));
    } catch (error) {
      const plain = plainError(error);
      throw typeof (error as Partial<APIError>).status === "number" ? new Error(failureOf(error).why) : plain;
    }
  },
};

/** What a provider refuses to give to its model is filtered, as an answer is, and costs nothing. */
const FILTERED: ModelAnswer = {
  ...{ text: "", calls: [], thoughts: "", finish: "filtered", reason: "content_filter" },
  ...{ ...NONE, isEstimated: true },
};

function isFiltered(error: unknown): boolean {
  return (
    isWrongRequest(error) && /\bcontent_(?:filter|policy_violation)\b/.test(String((error as Partial<APIError>).code))
  );
}

/** What the thread answers to. */
export type ModelMethods = typeof methods;

interface Reading {
  readonly signal: AbortSignal;
  readonly characters: number;
  readonly calls: number;
  readonly tell: (text: string) => void;
}

/**
 * Asks for the answer piece by piece, so that a slow one is no silent one; of a service that cannot, at once. What a
 * service refuses costs nothing: it is asked again in the words that it takes.
 */
async function answerTo(address: ModelAddress, request: object, reading: Reading): Promise<ModelAnswer> {
  const client = clientOf(address, STREAM);
  const key = `${address.endpoint} ${(request as { readonly model?: string }).model}`;
  const post = (body: object): Promise<Response> =>
    client.post("/chat/completions", { body, signal: reading.signal }).asResponse();
  for (;;) {
    const named = renamed.has(key) ? withNewName(request) : request;
    const body = shortIds.has(key) ? withShortIds(named) : named;
    const isStream = !atOnce.has(key);
    try {
      return await answerIn(await post(isStream ? { ...body, ...STREAMED } : body), reading);
    } catch (error) {
      if (isStream && isAboutStreams(error)) keep(atOnce, key);
      else if (named === request && isAboutMaxTokens(error, request)) keep(renamed, key);
      else if (body === named && isAboutIds(error)) keep(shortIds, key);
      else throw error;
    }
  }
}

const STREAMED = { stream: true, stream_options: { include_usage: true } } as const;

function keep(known: Set<string>, key: string): void {
  if (known.size > MAX_MODELS) known.clear();
  known.add(key);
}

function withNewName({ max_tokens, ...request }: { readonly max_tokens?: number }): object {
  return { ...request, ...(max_tokens !== undefined && { max_completion_tokens: max_tokens }) };
}

function isAboutMaxTokens(error: unknown, request: object): boolean {
  const { message = "" } = error as Partial<APIError>;
  return "max_tokens" in request && isWrongRequest(error) && /max_completion_tokens/.test(message);
}

function isAboutStreams(error: unknown): boolean {
  const { message = "" } = error as Partial<APIError>;
  return isWrongRequest(error) && /stream/i.test(message);
}

function isWrongRequest(error: unknown): boolean {
  const { status } = error as Partial<APIError>;
  return status === 400 || status === 422 || status === 501;
}

async function answerIn(response: Response, reading: Reading): Promise<ModelAnswer> {
  const isStream = /^text\/event-stream/i.test(response.headers.get("content-type") ?? "");
  if (isStream && response.body !== null) return answerOf(await readStream(response.body, reading.tell), reading);
  const text = (await boundedText(response)).replace(/^\ufeff/, "");
  // Some say that it is JSON, and send events, or lines of JSON.
  if (/^\s*(?:data:|event:|id:|retry:|:)/.test(text) || isLines(text))
    return answerOf(await readStream(new Blob([text]).stream(), reading.tell), reading);
  return readAnswer(text, ANSWER, reading);
}

/** Whether a text is several JSON objects, a line each. No expression: those of long texts go back over them. */
function isLines(text: string): boolean {
  const end = text.indexOf("\n");
  if (end < 0 || !text.startsWith("{") || !text.slice(0, end).trimEnd().endsWith("}")) return false;
  return text.slice(end).trimStart().startsWith("{");
}

async function boundedText({ body }: Response): Promise<string> {
  if (body === null) return "";
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > ANSWER.bytes) throw new MisbehavedError(`its answer is longer than ${ANSWER.bytes / 2 ** 20} MiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function clientOf({ endpoint, credential, policy }: ModelAddress, bounds: JsonBounds): OpenAI {
  return new OpenAI({
    // It wants one; a model that takes none ignores it.
    apiKey: credential === "" ? "none" : credential,
    baseURL: endpoint,
    fetch: plainlyTold(createBoundedFetch(dispatcherOf(policy), bounds)),
    maxRetries: 0,
    timeout: SILENT_MS,
    organization: null,
    project: null,
    logLevel: "off",
  });
}

serveThread(methods, "at once");
