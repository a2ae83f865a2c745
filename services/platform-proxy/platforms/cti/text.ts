import { piecesOf } from "../../../shared/query-text.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";

/**
 * Turns a defanged value, such as hxxps://a[.]b, back into what it stands for.
 * Round and curly brackets may stand in a path for themselves, so there they
 * are left alone.
 */
export function refang(value: string): string {
  const bare = value
    .trim()
    .replace(/^<(.*)>$|^"(.*)"$|^'(.*)'$/s, "$1$2$3")
    .replace(/^h(?:xx|\*\*|tt)p(s?)(?=\[?:)/i, "http$1")
    .replace(/^fxp(?=\[?:)/i, "ftp")
    .replace(/\[:\/\/\]|\[:\]\/\//g, "://")
    .replace(/\[(?:\.|dot)\]/gi, ".")
    .replace(/\[:\]/g, ":")
    .replace(/\[(?:@|at)\]/gi, "@");
  const [host = ""] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*/i.exec(bare) ?? [];
  const opened = host
    .replace(/[({](?:\.|dot)[)}]/gi, ".")
    .replace(/[({](?:@|at)[)}]/gi, "@")
    .replace(/(?<=[\p{L}\p{N}-])\\\.(?=[\p{L}\p{N}])/gu, ".");
  return `${opened}${bare.slice(host.length)}`;
}

/**
 * A search text as the platform takes it; undefined for what finds everything.
 * It holds each word as an alternative that is matched from its beginning, and
 * cuts words into tokens: a word that is several goes quoted, or each of them
 * would match on its own. A quoted asterisk stands for nothing.
 */
export function searchTextOf(query: string): string | undefined {
  const trimmed = query.trim();
  if (trimmed === "") return undefined;
  const balanced = (trimmed.match(/"/g)?.length ?? 0) % 2 === 0 ? trimmed : trimmed.replaceAll('"', " ");
  const parts = balanced.match(/"[^"]*"|[^\s"]+/g) ?? [];
  if (parts.some((part) => ONLY_STARS.test(part))) return undefined;
  const quoted = parts.map((part) => {
    if (part.startsWith('"')) return part;
    const word = refang(part).replaceAll('"', "");
    return ONE_TOKEN.test(word) || WILD.test(word) ? word : `"${word}"`;
  });
  return quoted.join(" ");
}

/** What the platform keeps as one token (Unicode text segmentation): a full stop between two letters or two digits is inside. */
const ONE_TOKEN = /^\*?[\p{L}\p{N}_]+(?:(?:(?<=\p{L})\.(?=\p{L})|(?<=\p{N})\.(?=\p{N}))[\p{L}\p{N}_]+)*\*?$/u;

/** A word with asterisks that the platform compares with whole tokens: it holds nothing at which words are cut. */
const WILD = /^(?=.*\*)[\p{L}\p{N}_.*]+$/u;

const ONLY_STARS = /^\*+$/;

/** Whether the platform keeps a text as one token. */
export const isOneToken = (text: string): boolean => ONE_TOKEN.test(text);

/**
 * The text of a query that is one word of several tokens or with a full stop,
 * such as a part of an address or of a domain: a search for it finds whole
 * tokens, or what begins with it, only. An asterisk divides it.
 */
export function partsOf(query: string): readonly string[] | undefined {
  const word = refang(query);
  if (/[\s"]/.test(word) || WILD.test(word)) return undefined;
  const isPlain = ONE_TOKEN.test(word) && !word.includes(".");
  const parts = piecesOf(word);
  return isPlain || parts.length === 0 ? undefined : parts;
}

/** A name without blanks at its ends. @throws ConnectError invalid_argument, for one that OpenCTI refuses as too short. */
export function checkedName(given: string): string {
  const name = given.trim();
  if (name.length < 2)
    throw invalidArgument("name: must have at least two characters, not counting spaces at its ends");
  return name;
}

/** A text that an object cannot be without, without blanks at its ends. @throws ConnectError invalid_argument, for a blank one. */
export function checkedText(argument: string, given: string): string {
  const text = given.trim();
  if (text === "") throw invalidArgument(`${argument}: must not be blank`);
  return text;
}

/** A field for a text that may be left out, as it was given. @throws ConnectError invalid_argument, for a blank one. */
export function textOf<K extends string>(key: K, given: string, argument: string = key): { [P in K]?: string } {
  if (given === "") return {};
  if (given.trim() === "") throw invalidArgument(`${argument}: must not be blank; leave it out if there is none`);
  return { [key]: given } as { [P in K]?: string };
}

const HASHES: Readonly<Record<number, string>> = { 32: "MD5", 40: "SHA-1", 64: "SHA-256", 128: "SHA-512" };

/** The algorithm that a value could be a hash of. */
export function hashAlgorithmOf(value: string): string | undefined {
  return /^[0-9a-f]+$/i.test(value) ? HASHES[value.length] : undefined;
}
