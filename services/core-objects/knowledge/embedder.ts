/** Turns texts into vectors that are near each other where the texts mean nearly the same. */
export interface Embedder {
  /** What made a vector: only those of one embedder are compared. */
  readonly id: string;
  /**
   * Unit vectors of the texts, all of the same length.
   *
   * @throws EmbedderError
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

/** What cannot be embedded, in words for who owns the knowledge base. */
export class EmbedderError extends Error {
  constructor(
    message: string,
    /** Trying again later may help. */
    readonly isPassing: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** The embedders there are. */
export interface Embedders {
  /** The one that a knowledge base is embedded by now. @throws EmbedderError where there is none any more. */
  of(base: { readonly integrations: readonly string[]; readonly embedding_model: string }): Promise<Embedder>;
  /** The one with the id, for what it embedded before. @throws EmbedderError where there is none any more. */
  byId(id: string): Promise<Embedder>;
  close(): Promise<void>;
}
