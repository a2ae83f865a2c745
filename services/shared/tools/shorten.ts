/** How many characters of a text a row of a list shows; what reads one object shows all. */
export const ROW_CHARACTERS = 120;

/** The beginning of a text, an ellipsis at its end where something follows; never half a character. */
export function shorten(text: string | null | undefined, most = ROW_CHARACTERS): string {
  if (text == null || text.length <= most) return text ?? "";
  const end = isHighSurrogate(text.charCodeAt(most - 2)) ? most - 2 : most - 1;
  return `${text.slice(0, end)}…`;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
