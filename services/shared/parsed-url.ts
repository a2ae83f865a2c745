/**
 * Parses a URL; undefined if the text is not one. URL.canParse is not used: once V8 has compiled a call of it, Node 20 reads
 * the bytes of a Latin-1 text as UTF-8, so that it says no to https://bücher.example, and yes to texts that are not URLs.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
