import type { Entry, Key } from "./client.js";

// How a key, a URL and the name of a variable are written into JSON, TOML and a shell's line. Every client
// spells a variable differently, and a wrong spelling is sent as if it were the key.

/** The environment variable that configurations name, if nobody says another. */
export const KEY_VARIABLE = "SERVICE_API_KEY";

/** The variable that configurations name here: API_KEY_VARIABLE, if it is set. */
export function keyVariableIn(env: Readonly<Record<string, string | undefined>>): string {
  return env.API_KEY_VARIABLE || KEY_VARIABLE;
}

/** Whether a text can be the name of an environment variable. */
export function isVariable(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text);
}

type Spelling = (variable: string) => string;
/** Of clients for a shell. */
export const SHELL: Spelling = (variable) => `\${${variable}}`;
/** Of editors. */
export const EDITOR: Spelling = (variable) => `\${env:${variable}}`;

/** The value of the header `Authorization`. */
export function bearer(key: Key, spelling: Spelling): string {
  return `Bearer ${"literal" in key ? key.literal : spelling(key.variable)}`;
}

/** The header alone. */
export function authorization(key: Key, spelling: Spelling): { readonly Authorization: string } {
  return { Authorization: bearer(key, spelling) };
}

/** JSON that people read. */
export const json = (value: object): string => JSON.stringify(value, null, 2);

/** An object with a member for each server. */
export function byName(entries: readonly Entry[], one: (entry: Entry) => object): object {
  return Object.fromEntries(entries.map((entry) => [entry.name, one(entry)]));
}

/** A text of TOML: JSON's escapes are TOML's too, but TOML also escapes DEL. */
export const tomlText = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f");

/** A key of TOML, bare if it can be. */
export const tomlKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : tomlText(name));

/** One word of a shell, in single quotes if a shell reads something in it. */
export const word = (text: string): string =>
  /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A header for a shell: in single quotes the client expands the variable, at each start. */
export const header = (key: Key): string => word(`Authorization: ${bearer(key, SHELL)}`);

/** A header for a shell that expands the variable itself. */
export function headerNow(key: Key): string {
  return "literal" in key ? header(key) : `"Authorization: Bearer $${key.variable}"`;
}
