/** A passage whose vector is near: the position-th of its document, from 0. */
export interface Near {
  readonly document: string;
  readonly generation: number;
  readonly position: number;
  /** Its cosine to what was asked, as far as the engine knows it. */
  readonly score: number;
}

/**
 * The vectors of one knowledge base that one embedder made: unit vectors of one
 * length. An engine finds the nearest of them, exactly or nearly so; what may be
 * seen is decided before it is asked, since nobody else's vectors are in it.
 */
export interface Vectors {
  /** Puts the vectors of a generation of a document, one after another, in the place of the one before. */
  put(document: string, generation: number, vectors: Float32Array): void | Promise<void>;
  /** Takes those of a document out. */
  remove(document: string): void | Promise<void>;
  /**
   * Those nearest to a vector, the nearest first.
   *
   * @param only these documents, where given: applied before anything is ranked.
   */
  nearest(vector: Float32Array, limit: number, only?: ReadonlySet<string>): readonly Near[] | Promise<readonly Near[]>;
}
