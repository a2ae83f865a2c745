import { type APIError, OpenAI } from "openai";
import {
  createBoundedFetch,
  dispatcherOf,
  plainError,
  wordsOf,
} from "../../../shared/isolation/apart/bounded-fetch.js";
import type { JsonBounds } from "../../../shared/isolation/json-bounds.js";
import { MisbehavedError, REFUSED_ADDRESS } from "../../../shared/isolation/misbehaved.js";
import type { OutgoingPolicy } from "../../../shared/outgoing/policy.js";
import { serveThread } from "../../../shared/process/thread.js";
import { estimatedTokens } from "../estimated-tokens.js";
import { answerOf, BrokenError, type ModelAnswer, readAnswer, ToldError, UnreadableError } from "./chat-answer.js";
import { readStream } from "./chat-stream.js";
import { waitOf } from "./retry-after.js";

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

/**
 * Why there is no answer. `busy`: asked later it may answer. `down`: it did not answer this time. `full`: the
 * conversation is longer than it takes. `unreadable`: it answered, and asking again may cost the same again.
 */
export type FailureKind = "busy" | "down" | "full" | "refused" | "unreadable";

/** A request without an answer. */
export interface ModelFailure {
  readonly kind: FailureKind;
  /** In words; they may hold what is secret. */
  readonly why: string;
  /** When the service wants to be asked again, in milliseconds from now, if it said so. */
  readonly afterMs?: number;
  /** What was sent for nothing, of an answer that cannot be read; about. */
  readonly inputTokens: number;
}

/** What came of a request. */
export type ModelReply = { readonly answer: ModelAnswer } | { readonly failure: ModelFailure };

/** Models, by endpoint and name, that refused to answer piece by piece. */
const atOnce = new Set<string>();

const methods = {
  /** Asks a model once. @param asked ModelQuestion. @returns ModelReply. */
  async ask(asked: string, signal: AbortSignal): Promise<string> {
    const { request, calls, ...address } = JSON.parse(asked) as ModelQuestion;
    const characters = JSON.stringify(request).length;
    let reply: ModelReply;
    try {
      reply = { answer: await answerTo(address, request, { signal, characters, calls }) };
    } catch (error) {
      if (signal.aborted) throw plainError(error);
      const plain = plainError(error);
      // Of these the caller tells others: of a remote that misbehaves, and of an address that is closed.
      if (plain instanceof MisbehavedError || plain.name === REFUSED_ADDRESS) throw plain;
      reply = { failure: failureOf(error, estimatedTokens(characters)) };
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
      throw typeof (error as Partial<APIError>).status === "number" ? new Error(failureOf(error, 0).why) : plain;
    }
  },
};

/** What the thread answers to. */
export type ModelMethods = typeof methods;

interface Reading {
  readonly signal: AbortSignal;
  readonly characters: number;
  readonly calls: number;
}

/** Asks for the answer piece by piece, so that a slow one is no silent one; of a service that cannot, at once. */
async function answerTo(address: ModelAddress, request: object, reading: Reading): Promise<ModelAnswer> {
  const client = clientOf(address, STREAM);
  const key = `${address.endpoint} ${(request as { readonly model?: string }).model}`;
  const post = (body: object): Promise<Response> =>
    client.post("/chat/completions", { body, signal: reading.signal }).asResponse();
  if (!atOnce.has(key)) {
    try {
      return await answerIn(await post({ ...request, stream: true, stream_options: { include_usage: true } }), reading);
    } catch (error) {
      if (!isAboutStreams(error)) throw error;
      if (atOnce.size > MAX_MODELS) atOnce.clear();
      atOnce.add(key);
    }
  }
  return answerIn(await post(request), reading);
}

function isAboutStreams(error: unknown): boolean {
  const { status, message = "" } = error as Partial<APIError>;
  return (status === 400 || status === 422 || status === 501) && /stream/i.test(message);
}

async function answerIn(response: Response, reading: Reading): Promise<ModelAnswer> {
  const isStream = /^text\/event-stream/i.test(response.headers.get("content-type") ?? "");
  if (isStream && response.body !== null) return answerOf(await readStream(response.body), reading);
  const text = await boundedText(response);
  // Some say that it is JSON, and send events.
  if (/^\s*data:/.test(text)) return answerOf(await readStream(new Blob([text]).stream()), reading);
  return readAnswer(text, ANSWER, reading);
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
    fetch: createBoundedFetch(dispatcherOf(policy), bounds),
    maxRetries: 0,
    timeout: SILENT_MS,
    organization: null,
    project: null,
    logLevel: "off",
  });
}

/** Statuses of a service that is too busy, or that is not there at the moment. */
const BUSY: ReadonlySet<number> = new Set([429, 503, 529]);
const DOWN: ReadonlySet<number> = new Set([408, 409, 500, 502, 504, 520, 522, 524]);
/** Words of services that are not busy, though they say 429: waiting does not help. */
const USED_UP = /insufficient_quota|billing|exceeded your current quota|credit balance/i;
const FULL =
  /context.{0,20}(length|window|size)|maximum context|too many (input )?tokens|prompt is too long|input is too long|exceed.{0,20}context/i;

function failureOf(error: unknown, inputTokens: number): ModelFailure {
  if (error instanceof UnreadableError) return { kind: "unreadable", why: error.message, inputTokens };
  if (error instanceof ToldError) {
    const status = Number(error.code);
    return {
      kind: kindOf(status, `${error.code} ${error.message}`),
      why: `it answered: ${error.message}`,
      inputTokens,
    };
  }
  if (error instanceof BrokenError) return { kind: "down", why: error.message, inputTokens };
  const { status, message, headers, code } = error as Partial<APIError>;
  if (typeof status !== "number") return { kind: "down", why: plainError(error).message, inputTokens: 0 };
  if (status === 401 || status === 403)
    return {
      kind: "refused",
      why: `it refused the credential (HTTP ${status}): set another one with update_integration`,
      inputTokens: 0,
    };
  const why = `HTTP ${wordsOf({ message: message ?? String(status) })}`;
  const kind = kindOf(status, `${code ?? ""} ${message ?? ""}`);
  const afterMs = kind === "busy" && headers !== undefined ? waitOf(headers as Headers) : undefined;
  return { kind, why, inputTokens: 0, ...(afterMs !== undefined && { afterMs }) };
}

function kindOf(status: number, words: string): FailureKind {
  if (FULL.test(words)) return "full";
  if (USED_UP.test(words)) return "refused";
  if (BUSY.has(status)) return "busy";
  if (DOWN.has(status)) return "down";
  if (!Number.isNaN(status)) return "refused";
  return /rate.?limit|overload/i.test(words)
    ? "busy"
    : /server.?error|unavailable|timeout/i.test(words)
      ? "down"
      : "refused";
}

serveThread(methods, "at once");
