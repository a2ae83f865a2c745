import { createHash } from "node:crypto";
import type { Embedder, Embedders } from "../../../../services/core-objects/knowledge/embedder.js";

const DIMENSIONS = 64;

/** The unit vector of the words of a text, each at a place of its own: the same words are near each other. */
export function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const at = createHash("sha256").update(word).digest()[0]! % DIMENSIONS;
    vector[at] = vector[at]! + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((one) => one / length);
}

/** Embedders that need no model; `before` is awaited ahead of each request for documents, which have several lines. */
export function plainEmbedders(before: (texts: readonly string[]) => unknown = () => {}): Embedders {
  const plain = (id: string): Embedder => ({
    id,
    async embed(texts, signal) {
      if (texts[0]?.includes("\n")) await unlessAborted(before(texts), signal);
      return texts.map(vectorOf);
    },
  });
  return {
    of: async ({ integrations: [integration] }) => plain(integration ?? "plain"),
    byId: async (id) => plain(id),
    endpointsOf: async () => new Map(),
    async close() {},
  };
}

async function unlessAborted(waited: unknown, signal: AbortSignal): Promise<void> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
  });
  signal.addEventListener("abort", stop);
  try {
    await Promise.race([waited, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
