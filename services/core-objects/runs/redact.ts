import { showHidden } from "../../shared/tools/codec/hidden-characters.js";

/** Shorter values would be found in any text. */
const SHORTEST = 4;
const REDACTED = "[redacted]";

/** Keeps what is secret out of texts, by its value. */
export interface Redactor {
  /** From now on this value is taken out. */
  add(secret: string): void;
  /** The text without any of the values, as they are or as they are written in JSON, URLs and base64. */
  redact(text: string): string;
  /** The same of a text whose end may be missing: what may be the beginning of a value is cut off there. */
  redactBeginning(text: string): string;
}

/** Begins without any. */
export function createRedactor(): Redactor {
  const written = new Set<string>();
  let longestFirst: string[] = [];
  const redact = (text: string): string => longestFirst.reduce((left, form) => left.replaceAll(form, REDACTED), text);
  return {
    add(secret) {
      if (secret.length < SHORTEST || written.has(secret)) return;
      const base64 = Buffer.from(secret).toString("base64");
      const forms = [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(secret),
        base64,
        base64.replace(/={1,2}$/, ""),
        Buffer.from(secret).toString("base64url"),
      ];
      for (const form of forms) written.add(form);
      longestFirst = [...written].sort((a, b) => b.length - a.length);
    },
    redact,
    redactBeginning(text) {
      const left = redact(text);
      const begun = Math.max(0, ...longestFirst.map((form) => beginningAtEnd(left, form)));
      return begun === 0 ? left : left.slice(0, -begun);
    },
  };
}

/** How much of the end of a text is the beginning of a value; less than is looked for in texts is nothing. */
function beginningAtEnd(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length >= SHORTEST; length--)
    if (text.endsWith(form.slice(0, length))) return length;
  return 0;
}

/** How deep what others wrote is looked into; it was bounded before. */
const MAX_DEPTH = 64;

/** What others wrote, with every text and name in it redacted and what hides in them shown. */
export function shown<T>(value: T, redactor: Redactor): T {
  return mapTexts(value, (text) => showHidden(redactor.redact(text))) as T;
}

/** A value with every text and name in it replaced. */
export function mapTexts(value: unknown, replace: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return replace(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, replace, depth + 1));
  const entries = Object.entries(value).map(([name, one]) => [replace(name), mapTexts(one, replace, depth + 1)]);
  return Object.fromEntries(entries);
}
