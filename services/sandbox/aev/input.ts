import { Bare, unstorable } from "./replies.js";
import type { Tag, World } from "./world.js";

// How the platform reads bodies: members it does not know are ignored, wrong
// types end in a refusal without a reason.

/** The members of a JSON body. */
export type Body = Readonly<Record<string, unknown>>;

/** @throws Bare 400 for anything but an object. */
export function objectOf(body: unknown): Body {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new Bare(400);
  return body as Body;
}

/** A text; null where it is missing. @throws Refusal 409 for one that its database does not take; a blank one is refused otherwise. */
export function textOf(body: Body, key: string): string | null {
  const value = body[key];
  if (value === undefined || value === null) return null;
  if (typeof value === "object") throw new Bare(400);
  const text = String(value);
  if (text.includes("\0") && !isBlank(text)) throw unstorable('ERROR: invalid byte sequence for encoding "UTF8": 0x00');
  return text;
}

/** A text of a column that holds 255 characters; null where it is missing. @throws Refusal 409 for a longer one. */
export function shortTextOf(body: Body, key: string): string | null {
  const text = textOf(body, key);
  if (text !== null && [...text].length > 255)
    throw unstorable("ERROR: value too long for type character varying(255)");
  return text;
}

/** To the platform, control characters are blanks too. */
export const isBlank = (text: string): boolean => [...text.trim()].every((letter) => letter <= " ");

/** One of some words; null where it is missing. */
export function wordOf<Word extends string>(body: Body, key: string, words: readonly Word[]): Word | null {
  const value = body[key];
  if (value === undefined || value === null) return null;
  const word = words.find((known) => known === value);
  if (word === undefined) throw new Bare(400);
  return word;
}

/** Texts; empty where they are missing. */
export function textsOf(body: Body, key: string): string[] {
  const value = body[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Bare(400);
  return value.map(String);
}

/** The tags that exist; others are dropped without a word. @throws Bare 400 for null, which a read gives for none. */
export function tagsOf(world: World, tenant: string, body: Body, key: string): string[] {
  if (body[key] === null) throw new Bare(400);
  const isHere = (tag: Tag | undefined) => tag?.tenant === tenant;
  return [...new Set(textsOf(body, key))].filter((id) => isHere(world.tags.get(id)));
}

/** An instant with its offset, or seconds since the epoch; null where it is missing. */
export function instantOf(body: Body, key: string): number | null {
  const value = body[key];
  if (value === undefined || value === null) return null;
  const text = String(value);
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const at = /^\d{4}-\d\d-\d\dT.+(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new Bare(400);
  return Math.floor(at / 1_000) * 1_000;
}
