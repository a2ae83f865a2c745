import { createThread, ThreadEndedError } from "../../shared/process/thread.js";
import { type Embedder, EmbedderError } from "./embedder.js";
import type { EmbeddingMethods } from "./threads/embedding.js";

/** What the built-in model makes vectors with: its name and their length. */
export const BUILT_IN = "built-in/use-lite-en-512";

/** Heap of the thread; the model's 28 MB of weights are beside it. */
const MEGABYTES = 512;
/** A text takes some milliseconds; the first one waits until the model is loaded. */
const TEXT_MS = 30_000;

/** The model that ships with the product, in a thread of its own: loaded when first asked, without a network. */
export function createBuiltInEmbedder(): Embedder & { close(): Promise<void> } {
  const thread = createThread<EmbeddingMethods>(new URL("threads/embedding.js", import.meta.url), {
    megabytes: MEGABYTES,
    ms: TEXT_MS,
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
