// Characters that a person does not see and a model reads: those that turn the
// direction of text, by which it looks like another (Unicode TR 36, "Trojan
// Source"), tags and variation selectors, in which whole instructions hide, and
// invisible operators. Joiners stay: emoji and scripts are written with them.

/** U+E0000 to U+E0FFF is a lead surrogate U+DB40 to U+DB43 and any trail. */
const HIDDEN = /[\u061c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069]|[\udb40-\udb43][\udc00-\udfff]/g;
/** One of them as it is shown. */
const SHOWN = /‹U\+(061C|200[EF]|202[A-E]|206[0-46-9]|E0[0-9A-F]{3})›/g;

/** Each as it is shown, made once: a text may hold 500,000 of them. */
const shown = new Map<string, string>();

/** The text with its hidden characters written out, such as ‹U+202E›. */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, shownAs);
}

function shownAs(hidden: string): string {
  let as = shown.get(hidden);
  if (as === undefined) {
    const code = hidden.codePointAt(0) as number;
    as = `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
    shown.set(hidden, as);
  }
  return as;
}

/** The text that was shown, as it was: what a model copies finds its object. */
export function restoreHidden(text: string): string {
  return text.replace(SHOWN, (_shown, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
}
