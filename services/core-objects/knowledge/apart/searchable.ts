// What goes to the thread that ranks.

/** One generation of a document, to be found. */
export interface Searchable {
  readonly document: string;
  readonly name: string;
  readonly generation: number;
  readonly embedder: string;
  /** How many there are. */
  readonly passages: number;
  /** Of their blocks, one after another: what packedTerms made. Without those that were staged. */
  readonly terms: readonly Uint8Array[];
  readonly isStaged?: boolean;
  /** Unit vectors of the passages, one after another; empty for what is found by its words alone. */
  readonly vectors: Float32Array;
}

/** Terms of some blocks of a document that is put later. */
export interface Portion extends Pick<Searchable, "document" | "name" | "terms"> {
  /** Whether they are the first: what is left of before goes. */
  readonly isFirst: boolean;
}

/** Vectors of a generation of a document whose words are there. */
export interface AddedVectors extends Pick<Searchable, "document" | "generation" | "embedder" | "vectors"> {
  readonly dimensions: number;
}
