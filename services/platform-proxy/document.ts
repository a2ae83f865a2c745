/** A GraphQL operation as it is sent, with the types of its answer and its variables. */
export interface Document<Data = unknown, Variables = never> {
  /** The operation and the fragments that it names. */
  readonly text: string;
  /** Whether it changes something at the platform. */
  readonly writes: boolean;
  /** Carries the types and is never set. */
  readonly types?: (variables: Variables) => Data;
}

/** What a document's operation answers. */
export type DataOf<D extends Document> = D extends Document<infer Data> ? Data : never;

/** What a document's operation takes. */
export type VariablesOf<D extends Document> = D extends Document<unknown, infer Variables> ? Variables : never;
