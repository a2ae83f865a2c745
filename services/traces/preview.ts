/** The most characters kept of a field beside its payload. */
export const MAX_PREVIEW_CHARS = 500;

const SURROGATE = /[\ud800-\udfff]/;

/** The first characters of a text; a character is never split. */
export function previewOf(text: string, chars = MAX_PREVIEW_CHARS): string {
  if (text.length <= chars) return text;
  const front = text.slice(0, chars);
  if (!SURROGATE.test(front)) return front;
  let end = 0;
  for (let n = 0; n < chars && end < text.length; n++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
