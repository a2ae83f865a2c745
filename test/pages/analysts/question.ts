// biome-ignore lint/suspicious/noExplicitAny: the structured result of any tool, read as a model reads it.
export type Answer = any;

/** One tool call of a question. */
export interface Call {
  readonly server: string;
  readonly tool: string;
  /** The arguments; ids come from the answers of the calls before. */
  readonly args: (earlier: readonly Answer[]) => object;
  /** The fields of the answer that the page shows, such as `reports.id`. */
  readonly keep: readonly string[];
  /** How many rows of a list the page shows; 3 unless told. */
  readonly rows?: number;
}

/** A question of an analyst, with the calls that answer it. */
export interface Question {
  readonly title: string;
  readonly calls: readonly Call[];
  /** The answer in words. Values between ** come from the answers of the calls. */
  readonly inWords: (answers: readonly Answer[]) => string;
}

/** What is in a list by name: "A, B and C", in bold. */
export function names(list: readonly { readonly name: string }[]): string {
  return `**${list.map(({ name }) => name).join(", ")}**`;
}
