import { createBoundedFetch, dispatcherOf, plainError } from "../../../shared/isolation/apart/bounded-fetch.js";
import type { JsonBounds } from "../../../shared/isolation/json-bounds.js";
import type { OutgoingPolicy } from "../../../shared/outgoing/policy.js";
import { serveThread } from "../../../shared/process/thread.js";

// The client of endpoints of embeddings (OpenAI API: POST /embeddings).

const MAX_DIMENSIONS = 4_096;
/** Characters of a number and of what stands beside it. */
const NUMBER_BYTES = 32;
/** What an answer holds beside its numbers. */
const MORE = { bytes: 64 * 1024, nodes: 200 };
const MAX_DEPTH = 8;

/** What an endpoint is asked. */
export interface EmbeddingQuestion {
  readonly endpoint: string;
  readonly model: string;
  /** "" for none. */
  readonly credential: string;
  readonly input: readonly string[];
  readonly policy: OutgoingPolicy;
}

/** What an endpoint answered other than vectors, in words that follow its name. */
export interface EmbeddingFailure {
  readonly problem: string;
  /** Trying again later may help. */
  readonly isPassing: boolean;
}

const methods = {
  /** @param asked EmbeddingQuestion. @returns the vectors of all texts after one another, or an EmbeddingFailure. */
  async embed(asked: string, signal: AbortSignal): Promise<Uint8Array | string> {
    const { endpoint, model, credential, input, policy } = JSON.parse(asked) as EmbeddingQuestion;
    const numbers = input.length * MAX_DIMENSIONS;
    const bounds: JsonBounds = {
      bytes: numbers * NUMBER_BYTES + MORE.bytes,
      depth: MAX_DEPTH,
      nodes: numbers + input.length * 10 + MORE.nodes,
    };
    const fetch = createBoundedFetch(dispatcherOf(policy), bounds);
    try {
      const answer = await fetch(`${endpoint}/embeddings`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...(credential !== "" && { authorization: `Bearer ${credential}` }),
        },
        body: JSON.stringify({ model, input, encoding_format: "float" }),
        signal,
      });
      const { status } = answer;
      if (status === 200) return vectorsIn(await answer.text(), input.length);
      await answer.body?.cancel();
      return failure(`status ${status}`, status === 408 || status === 429 || status >= 500);
    } catch (error) {
      throw plainError(error);
    }
  },
};

/** What the thread answers to. */
export type EmbeddingsMethods = typeof methods;

function failure(problem: string, isPassing = false): string {
  return JSON.stringify({ problem, isPassing } satisfies EmbeddingFailure);
}

function vectorsIn(text: string, count: number): Uint8Array | string {
  let data: unknown;
  try {
    data = (JSON.parse(text) as { data?: unknown }).data;
  } catch {
    return failure("something other than JSON");
  }
  if (!Array.isArray(data) || data.length !== count) return failure(`another number of embeddings than ${count}`);
  const vectors: (readonly number[])[] = [];
  for (const one of data as ({ index?: unknown; embedding?: unknown } | null)[]) {
    const embedding = one?.embedding;
    const isVector = Array.isArray(embedding) && embedding.every((each) => Number.isFinite(each));
    const index = one?.index as number;
    if (!isVector || !Number.isInteger(index) || index < 0) return failure("an invalid embedding");
    if (index < count) vectors[index] = embedding as number[];
  }
  const dimensions = vectors[0]?.length ?? 0;
  if (dimensions === 0 || dimensions > MAX_DIMENSIONS) return failure(`vectors of ${dimensions} dimensions`);
  const all = new Float32Array(count * dimensions);
  for (let i = 0; i < count; i++) {
    const vector = vectors[i];
    if (vector?.length !== dimensions) return failure("vectors of different lengths");
    all.set(unitOf(vector), i * dimensions);
  }
  return new Uint8Array(all.buffer);
}

function unitOf(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((one) => one / length);
}

serveThread(methods, "at once");
