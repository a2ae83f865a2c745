import { ThreadEndedError } from "../../shared/process/asked.js";
import type { Processes } from "../../shared/process/processes.js";
import type { EmbeddingMethods } from "./apart/embedding.js";
import { type Embedder, EmbedderError } from "./embedder.js";

/** What the built-in model makes vectors with: its name and their length. */
export const BUILT_IN = "built-in/use-lite-en-512";

/** The model's 28 MB of weights are beside the heap. A question waits for it: it does not go after others. */
const BOUNDS = { megabytes: 512, wholeMegabytes: 1_024, busyMs: Number.POSITIVE_INFINITY, isLow: false };
/** A text takes some milliseconds; the first one waits until the model is loaded. */
const TEXT_MS = 30_000;
/** How long the model is kept without a text: the next one waits half a second, and the memory is 120 MB. */
const IDLE_MS = 30_000;

/** The model that ships with the product, in a process of its own: loaded when asked, without a network. */
export function createBuiltInEmbedder(processes: Processes): Embedder & { close(): Promise<void> } {
  const thread = processes.create<EmbeddingMethods>(new URL("apart/embedding.js", import.meta.url), {
    ...BOUNDS,
    ms: TEXT_MS,
    idleMs: IDLE_MS,
  });
  return {
    id: BUILT_IN,
    // One at a time, so that a question waits for one text of a document at most.
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        signal.throwIfAborted();
        vectors.push(await thread.call("embed", text).catch(failed));
      }
      return vectors;
    },
    close: () => thread.close(),
  };
}

function failed(error: Error): never {
  const why = error instanceof ThreadEndedError ? `: ${error.message}` : "";
  throw new EmbedderError(`the built-in model does not answer${why}`, true, error);
}
