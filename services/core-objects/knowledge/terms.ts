import { isCommon, type Language, NO_LANGUAGE, stemOf, Tongue } from "./languages.js";

// How texts and questions become terms. A word is its stem and, in addition, as
// it is written; what is written without spaces is cut by the segmenter of the
// platform; what is joined or has digits, such as CVE-2024-3094, T1059.001,
// 198.51.100.7, a domain or a hash, is its parts and, in addition, the whole.

/** A word of a text: lower case. */
export interface Token {
  readonly word: string;
  /** Of letters, so that it has a stem; of anything else; or joined of several. */
  readonly kind: "word" | "sign" | "whole";
}

/** Words, joined or not: each is read once, however long it is. */
const JOINED = /[\p{L}\p{N}\p{M}]+(?:[-._:/@,]+[\p{L}\p{N}\p{M}]+)*/gu;
const JOINT = /[-._:/@,]+/;
const UNSPACED = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}ー";
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");
/** A run of what is written without spaces, or the text up to the next one. */
const RUNS = new RegExp(`([${UNSPACED}]+)|[^${UNSPACED}]+`, "gu");
const segmenter = new Intl.Segmenter("ja", { granularity: "word" });
/** Characters of a term: more than a SHA-512 hash has. */
const MAX_TERM = 160;

/** The words of a text, in the order in which they stand; what is joined after its parts. */
export function tokensIn(text: string): Token[] {
  const tokens: Token[] = [];
  // Full-width letters and half-width kana as what they are, letters with their marks as one.
  const plain = isAscii(text) ? text.toLowerCase() : text.normalize("NFKC").toLowerCase();
  if (!HAS_UNSPACED.test(plain)) addSpaced(plain, tokens);
  else
    for (const [run, unspaced] of plain.matchAll(RUNS)) {
      if (unspaced === undefined) addSpaced(run, tokens);
      else
        for (const { segment, isWordLike } of segmenter.segment(run))
          if (isWordLike === true) tokens.push({ word: segment, kind: "sign" });
    }
  return tokens;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

function addSpaced(text: string, tokens: Token[]): void {
  for (const [whole] of text.matchAll(JOINED)) {
    const isJoined = JOINT.test(whole);
    for (const word of isJoined ? whole.split(JOINT) : [whole])
      if (word.length <= MAX_TERM) tokens.push({ word, kind: /\p{N}/u.test(word) ? "sign" : "word" });
    if (isJoined && whole.length <= MAX_TERM) tokens.push({ word: whole, kind: "whole" });
  }
}

/** The number of a term, which stands for it: of 30 bits, so that two terms in a million share one by chance. */
export function numberOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < term.length; i++) hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 2;
}

/** The term of a word as it is written. */
export function written(word: string): string {
  return `=${word}`;
}

/** The terms of one passage: how often each stands in it, by its number. */
export interface Bag {
  readonly terms: ReadonlyMap<number, number>;
  /** Words, stems and wholes alike. */
  readonly length: number;
  readonly language: Language;
}

/** Words of a language that a passage has at least, if it is of another one than those around it. */
const ENOUGH = 5;

/** The terms of passages that stand together. */
export function bagsOf(texts: readonly string[]): Bag[] {
  const all = new Tongue();
  const read = texts.map((text) => {
    const tokens = tokensIn(text);
    const tongue = new Tongue();
    for (const { word, kind } of tokens) {
      if (kind !== "word") continue;
      tongue.add(word);
      all.add(word);
    }
    return { tokens, tongue };
  });
  const around = all.languageOr(NO_LANGUAGE);
  return read.map(({ tokens, tongue }) => bagOf(tokens, tongue.languageOr(around, ENOUGH)));
}

function bagOf(tokens: readonly Token[], language: Language): Bag {
  const terms = new Map<number, number>();
  const add = (term: string): void => {
    const number = numberOf(term);
    terms.set(number, (terms.get(number) ?? 0) + 1);
  };
  for (const { word, kind } of tokens) {
    const stem = kind === "word" ? stemOf(word, language) : word;
    add(stem);
    if (kind === "word") add(written(word));
  }
  return { terms, length: tokens.length, language };
}

/** What a question looks for. */
export interface Sought {
  /** Terms that stand for one word: its stems in the languages that are searched, and itself. */
  readonly stems: readonly number[];
  /** The word as it is written; undefined for what has no stem. */
  readonly written: number | undefined;
  /** A name or number that is looked for as a whole. */
  readonly isExact: boolean;
}

/** What a question looks for, each word once: without those that tell nothing, unless there are no others. */
export function soughtIn(question: string, languages: readonly Language[]): Sought[] {
  const tokens = new Map(tokensIn(question).map((token) => [`${token.kind} ${token.word}`, token]));
  const tongue = new Tongue();
  for (const { word, kind } of tokens.values()) if (kind === "word") tongue.add(word);
  const language = tongue.among(new Set(languages));
  const spoken = new Set([language, ...languages]);
  const telling = [...tokens.values()].filter(({ word, kind }) => kind !== "word" || !isCommon(word, language));
  return (telling.length === 0 ? [...tokens.values()] : telling).map(({ word, kind }) => {
    const isExact = kind === "whole" || (kind === "sign" && word.length > 2 && /\p{N}/u.test(word));
    if (kind !== "word") return { stems: [numberOf(word)], written: undefined, isExact };
    const stems = new Set([word, ...[...spoken].map((one) => stemOf(word, one))]);
    return { stems: [...stems].map(numberOf), written: numberOf(written(word)), isExact };
  });
}
