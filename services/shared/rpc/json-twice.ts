// RFC 8259 leaves open which of two members of one name counts: a gateway that takes the
// first and a parser that takes the last read two different requests. JSON.parse does not
// tell; so members are counted in the text and in what was parsed, which costs little, and
// only where the counts differ the text is looked at again, to say what is wrong.

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;

/**
 * What makes a JSON text one that others could read differently, as a sentence: a name that
 * an object has twice, however it is written, or `__proto__`. Undefined for other texts.
 *
 * @param parsed what JSON.parse made of the text.
 */
export function ambiguityOf(text: string, parsed: unknown): string | undefined {
  const members = countOf(parsed);
  if (members >= 0 && members === colonsAfterNames(text)) return undefined;
  return ambiguityIn(text);
}

/** How many members a value has, those of its parts included; below zero where one is `__proto__`. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countOf(item);
    return count;
  }
  for (const name in value) {
    if (name === "__proto__") return Number.NEGATIVE_INFINITY;
    count++;
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === "object") count += countOf(member);
  }
  return count;
}

/** Colons that stand after a quote that is not escaped: as many as there are members, or more. */
function colonsAfterNames(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) {
    let before = at - 1;
    while (isSpace(text.charCodeAt(before))) before--;
    if (text.charCodeAt(before) !== QUOTE) continue;
    let slashes = before - 1;
    while (text.charCodeAt(slashes) === BACKSLASH) slashes--;
    if ((before - slashes) % 2 === 1) count++;
  }
  return count;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/**
 * The same, of the text alone: for texts that others parse.
 *
 * @param text JSON; whether it is, its parser says.
 */
export function ambiguityIn(text: string): string | undefined {
  /** The names of the objects that are open, undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 123: // {
        open.push(new Set());
        break;
      case 91: // [
        open.push(undefined);
        break;
      case 125:
      case 93:
        open.pop();
        break;
      case QUOTE: {
        const from = at;
        at = endOfString(text, at);
        const names = open.at(-1);
        if (names === undefined || !isName(text, at)) break;
        const name = nameOf(text.slice(from, at + 1));
        if (name === undefined) return undefined;
        if (name === "__proto__") return "it has a member __proto__, which no message has";
        if (names.has(name)) return `it has the member ${shown(name)} twice in one object`;
        names.add(name);
      }
    }
  }
  return undefined;
}

/** How many characters of a string are read one by one before its end is searched for, as in json-shape.ts. */
const WALKED = 256;

/** Where the string that begins at a quote ends. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (let walked = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
    else if (++walked === WALKED) {
      walked = 0;
      // The character before is no backslash, so that none before this place counts.
      at = toBackslashes(text, at + 1) - 1;
    }
  }
  return at;
}

/** From a place in a string: where its next quote is, or the backslashes right before that, or the text's end. */
function toBackslashes(text: string, from: number): number {
  const quote = text.indexOf('"', from);
  let at = quote === -1 ? text.length : quote;
  while (at > from && text.charCodeAt(at - 1) === BACKSLASH) at--;
  return at;
}

/** Whether a colon follows the end of a string. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (isSpace(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === COLON;
}

function nameOf(quoted: string): string | undefined {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

/** A name could be a secret that was put in the wrong place: only what looks like one of ours is repeated. */
function shown(name: string): string {
  return /^[\w./-]{1,40}$/.test(name) ? JSON.stringify(name) : "with the same name";
}
