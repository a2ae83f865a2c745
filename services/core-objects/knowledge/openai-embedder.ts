import type { Isolation, Remote, Work } from "../../shared/isolation/isolation.js";
import { MisbehavedError, REFUSED_ADDRESS } from "../../shared/isolation/misbehaved.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import type { EmbeddingFailure, EmbeddingQuestion, EmbeddingsMethods } from "./apart/embeddings.js";
import { type Embedder, EmbedderError } from "./embedder.js";

/** Where embeddings are asked for. */
export interface EmbeddingEndpoint {
  /** Of the embedder. */
  readonly id: string;
  /** The integration, and who owns it. */
  readonly remote: Remote;
  /** Names it in errors: never its URL or credential. */
  readonly name: string;
  /** The URL that its requests begin with. */
  readonly endpoint: string;
  readonly model: string;
  /** "" for none. */
  readonly credential: string;
  /** Stands before each text. */
  readonly prefix: string;
}

/** What an endpoint is reached with. */
export interface EmbeddingParts {
  readonly isolation: Isolation;
  readonly policy: OutgoingPolicy;
  /** Hears of an endpoint that passed a bound. */
  readonly misbehaved?: (error: MisbehavedError) => Promise<void>;
}

/** Texts of one request. */
const BATCH = 64;
const ANSWER_MS = 60_000;
const MAX_DIMENSIONS = 4_096;

/** The client of endpoints of embeddings. */
const EMBEDDINGS: Work<EmbeddingsMethods> = {
  module: new URL("apart/embeddings.js", import.meta.url),
  ...{ megabytes: 256, wholeMegabytes: 768, busyMs: 5_000, atOnce: 16 },
  asked: 2 * 2 ** 20,
  answered: BATCH * MAX_DIMENSIONS * Float32Array.BYTES_PER_ELEMENT,
};

/** Asks an OpenAI-compatible endpoint, in a process. */
export function createOpenAiEmbedder(
  { isolation, policy, misbehaved }: EmbeddingParts,
  { id, remote, name, endpoint, model, credential, prefix }: EmbeddingEndpoint,
): Embedder {
  async function ask(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const input = texts.map((text) => prefix + text);
    const question: EmbeddingQuestion = { endpoint, model, credential, input, policy };
    const patience = { ms: ANSWER_MS, signal, isRepeatable: true } as const;
    const answer = await isolation
      .call(EMBEDDINGS, remote, "embed", JSON.stringify(question), patience)
      .catch(async (error: Error) => {
        signal.throwIfAborted();
        if (!(error instanceof MisbehavedError)) throw failed(name, error);
        await misbehaved?.(error);
        const { misbehaviour, message } = error;
        throw new EmbedderError(`the integration ${name} failed: ${message}`, misbehaviour === "slow", error);
      });
    if (typeof answer !== "string") return vectorsOf(answer, input.length);
    const { problem, isPassing } = JSON.parse(answer) as EmbeddingFailure;
    throw new EmbedderError(`the integration ${name} answered the request for embeddings with ${problem}`, isPassing);
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

function failed(name: string, error: Error): EmbedderError {
  if (error.name === REFUSED_ADDRESS)
    return new EmbedderError(
      `the endpoint of the integration ${name} is not called: its address is closed; test_integration says how to open it`,
      false,
      error,
    );
  return new EmbedderError(`the endpoint of the integration ${name} does not answer`, true, error);
}

function vectorsOf(packed: Uint8Array, count: number): Float32Array[] {
  // A copy begins where numbers may, and holds nothing else in memory.
  const all = new Float32Array(Uint8Array.from(packed).buffer);
  const dimensions = all.length / count;
  return Array.from({ length: count }, (_, i) => all.subarray(i * dimensions, (i + 1) * dimensions));
}
