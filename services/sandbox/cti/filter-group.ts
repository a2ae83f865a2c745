/** A filter group as the API takes it. */
export interface FilterGroup {
  readonly mode: "and" | "or";
  readonly filters: readonly Filter[];
  readonly filterGroups: readonly FilterGroup[];
}

/** One condition; `values` are ORed unless the mode says and. */
export interface Filter {
  readonly key: readonly string[];
  readonly values?: readonly unknown[] | null;
  readonly operator?: string | null;
  readonly mode?: "and" | "or" | null;
}
