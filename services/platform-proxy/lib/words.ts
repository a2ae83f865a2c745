/** A generated enum: its values by name, without the prefix, and its names by value. */
export type EnumObject = Readonly<Record<string, string | number>>;

/**
 * The value that a platform's word means, in any case and with spaces or
 * hyphens, such as "In review" for IN_REVIEW; 0 for none and for one that is
 * not known here.
 */
export function enumOf(values: EnumObject, word: string | null | undefined): number {
  const value = word == null ? undefined : values[word.toUpperCase().replace(/[ -]/g, "_")];
  return typeof value === "number" ? value : 0;
}

/**
 * The platform's word for a value: its name in lower case.
 *
 * @param others the words that differ from that name, by it.
 */
export function wordOf(values: EnumObject, value: number, others: Readonly<Record<string, string>> = {}): string {
  const word = String(values[value] ?? "").toLowerCase();
  return others[word] ?? word;
}
