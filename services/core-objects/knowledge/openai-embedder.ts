import type { Agent } from "undici";
import { createOutgoingAgent } from "../../shared/outgoing/agent.js";
import { RefusedAddressError } from "../../shared/outgoing/guard.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import { type Embedder, EmbedderError } from "./embedder.js";

/** Where embeddings are asked for. */
export interface EmbeddingEndpoint {
  /** Of the embedder. */
  readonly id: string;
  /** Names it in errors: never its URL or credential. */
  readonly name: string;
  /** The URL that its requests begin with. */
  readonly endpoint: string;
  readonly model: string;
  /** "" for none. */
  readonly credential: string;
}

/** Texts of one request. */
const BATCH = 64;
const CONNECT_MS = 5_000;
const ANSWER_MS = 60_000;
const MAX_REPLY_BYTES = 16 << 20;
const MAX_DIMENSIONS = 4_096;

/** The connections to endpoints: guarded when they are dialled, and no redirect is followed. */
export function createEmbeddingAgent(policy: OutgoingPolicy): Agent {
  return createOutgoingAgent({
    policy,
    connectMs: CONNECT_MS,
    connections: 4,
    maxResponseSize: MAX_REPLY_BYTES,
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
  });
}

/** Asks an OpenAI-compatible endpoint (OpenAI API: POST /embeddings). */
export function createOpenAiEmbedder(
  agent: Agent,
  { id, name, endpoint, model, credential }: EmbeddingEndpoint,
): Embedder {
  async function ask(input: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const url = new URL(`${endpoint}/embeddings`);
    const { statusCode, body } = await agent
      .request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...(credential !== "" && { authorization: `Bearer ${credential}` }),
        },
        body: JSON.stringify({ model, input, encoding_format: "float" }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
      })
      .catch((error: unknown) => failed(name, error));
    const text = await body.text().catch((error: unknown) => failed(name, error));
    if (statusCode !== 200) {
      const isPassing = statusCode === 408 || statusCode === 429 || statusCode >= 500;
      throw new EmbedderError(
        `the integration ${name} answered the request for embeddings with status ${statusCode}`,
        isPassing,
      );
    }
    return vectorsIn(text, input.length, name);
  }

  return {
    id,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += BATCH)
        vectors.push(...(await ask(texts.slice(from, from + BATCH), signal)));
      return vectors;
    },
  };
}

function failed(name: string, error: unknown): never {
  if (error instanceof RefusedAddressError)
    throw new EmbedderError(
      `the endpoint of the integration ${name} is not called: its address is closed, and test_integration says what opens it`,
      false,
      error,
    );
  throw new EmbedderError(`the endpoint of the integration ${name} does not answer`, true, error);
}

function vectorsIn(text: string, count: number, name: string): Float32Array[] {
  const wrong = (what: string): EmbedderError =>
    new EmbedderError(`the integration ${name} answered the request for embeddings with ${what}`, false);
  let data: unknown;
  try {
    data = (JSON.parse(text) as { data?: unknown }).data;
  } catch {
    throw wrong("something other than JSON");
  }
  if (!Array.isArray(data) || data.length !== count) throw wrong(`not ${count} embeddings`);
  const vectors: Float32Array[] = new Array(count);
  for (const { index, embedding } of data as { index?: unknown; embedding?: unknown }[]) {
    const isVector = Array.isArray(embedding) && embedding.every((one) => Number.isFinite(one));
    if (!isVector || typeof index !== "number") throw wrong("what is no embedding");
    vectors[index] = unitOf(embedding as number[]);
  }
  const dimensions = vectors[0]?.length ?? 0;
  if (dimensions === 0 || dimensions > MAX_DIMENSIONS) throw wrong(`vectors of ${dimensions} dimensions`);
  for (let i = 0; i < count; i++) if (vectors[i]?.length !== dimensions) throw wrong("vectors of several lengths");
  return vectors;
}

function unitOf(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (one) => (length === 0 ? 0 : one / length));
}
