import { type Embedder, EmbedderError } from "./embedder.js";

/** Dimensions of a vector, at most. */
export const MAX_DIMENSIONS = 4_096;

/**
 * The vectors of some texts, whatever an endpoint made of the request: one for each text, all of one length, of
 * numbers that can be compared.
 *
 * @throws EmbedderError if they are something else, or if the embedder fails in a way of its own.
 */
export async function vectorsOf(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  signal.throwIfAborted();
  let vectors: readonly Float32Array[];
  try {
    vectors = await embedder.embed(texts, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EmbedderError) throw error;
    throw wrong(error);
  }
  const dimensions = vectors[0]?.length ?? 0;
  const isRight =
    vectors.length === texts.length &&
    dimensions > 0 &&
    dimensions <= MAX_DIMENSIONS &&
    vectors.every((one) => one instanceof Float32Array && one.length === dimensions && one.every(Number.isFinite));
  if (!isRight) throw wrong();
  return vectors;
}

/** A failure that nobody foresaw may pass. */
function wrong(cause?: unknown): EmbedderError {
  return new EmbedderError(
    "the embedding endpoint did not answer with exactly one valid vector for each text",
    cause !== undefined,
    cause,
  );
}
