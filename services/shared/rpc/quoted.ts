/** A value that a caller gave, as a sentence names it: in quotation marks unless it is a plain word, so that a blank shows. */
export function quoted(value: string): string {
  return /^[\p{L}\p{N}_.@:/+-]+$/u.test(value) ? value : JSON.stringify(value);
}

/** Several of them, each once. */
export function quotedAll(values: readonly string[]): string {
  return [...new Set(values)].map(quoted).join(", ");
}
