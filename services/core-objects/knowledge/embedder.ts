import type { ObjectRecord } from "../record.js";

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

/** Whose endpoint an embedder asks. */
export type EmbeddingIntegration = Pick<ObjectRecord, "_id" | "name" | "origin" | "owner" | "acl" | "etag">;

/** The embedders there are. */
export interface Embedders {
  /** The one that a knowledge base is embedded by now. @throws EmbedderError if it is gone or disabled. */
  of(base: { readonly integrations: readonly string[]; readonly embedding_model: string }): Promise<Embedder>;
  /** The one with the id, for what it embedded before. @throws EmbedderError if it is gone or disabled. */
  byId(id: string): Promise<Embedder>;
  /**
   * The integrations whose endpoints these embedders ask, by the id of the embedder: absent for an embedder of this
   * process, and for an integration that is gone.
   */
  endpointsOf(ids: readonly string[]): Promise<ReadonlyMap<string, EmbeddingIntegration>>;
  close(): Promise<void>;
}
