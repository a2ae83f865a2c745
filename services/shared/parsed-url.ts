/**
 * The URL that a text is; undefined if it is none. URL.canParse is not asked: once V8 has compiled a call of it, Node 20 takes
 * the bytes of a text in Latin-1 for UTF-8, and says no to https://bücher.example, or yes to what cannot be parsed.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
