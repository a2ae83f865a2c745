// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON text must escape (RFC 8259 section 7)
const NEEDS_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** A text as a JSON string. Hot path: most texts need no escape, and to see that takes less time than to write them again. */
export function jsonString(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}
