/** Passages of a document: two blocks, of which the second is not full. */
export const PASSAGES = 24;

/** A version of a document, each of whose passages says which it is of. */
export function textOf(version: number): string {
  return Array.from({ length: PASSAGES }, (_, i) => `# Part ${i}\n\nThe answer of version ${version}.`).join("\n\n");
}

/** Which versions passages are of: as their text says, and as the search does. */
export function versionsIn(passages: readonly { readonly text: string; readonly version: number }[]): string[] {
  const said = passages.flatMap(({ text, version }) => [/version (\d+)/.exec(text)?.[1] ?? "none", String(version)]);
  return [...new Set(said)];
}
