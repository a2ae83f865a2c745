import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { Words } from "../../services/core-objects/knowledge/apart/words.js";
import { CANDIDATES } from "../../services/core-objects/knowledge/candidates.js";
import { fused } from "../../services/core-objects/knowledge/fused.js";
import { packedTerms } from "../../services/core-objects/knowledge/packed-terms.js";
import { BLOCK } from "../../services/core-objects/knowledge/records.js";
import { bm25 } from "../../services/shared/tools/bm25.js";
import type { Passage, Question } from "./set.js";

/** Answers that are asked for. */
export const DEPTH = 10;

/** The numbers of passages for a question, the best first. */
export type Ranking = (question: Question) => readonly number[];

/** What ours reads too. */
const whole = ({ name, headings, text }: Passage): string => [name, ...headings, text].join("\n");

/** Okapi BM25 over runs of letters and digits. */
export function plain(passages: readonly Passage[]): Ranking {
  const tokens = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const rank = bm25(passages.map((one) => tokens(whole(one))));
  return ({ question }) => rank(tokens(question));
}

const STEMMERS: Readonly<Record<string, (word: string) => string>> = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
  fi: finnish,
  ru: russian,
};

/** Okapi BM25 over words of the segmenter and their stems, told the language of each passage and question. */
export function stemmed(passages: readonly Passage[]): Ranking {
  const tokens = (text: string, language: string): string[] => {
    const stem = STEMMERS[language] ?? ((word: string) => word);
    const segments = [...new Intl.Segmenter(language, { granularity: "word" }).segment(text.toLowerCase())];
    return segments.flatMap(({ segment, isWordLike }) => (isWordLike === true ? [stem(segment)] : []));
  };
  const rank = bm25(passages.map((one) => tokens(whole(one), one.language)));
  return ({ question, language }) => rank(tokens(question, language));
}

/** The words of the service, told no language. */
export function ours(passages: readonly Passage[]): Ranking {
  const words = new Words();
  const numbers = new Map<number, number[]>();
  for (const [number, { document }] of passages.entries())
    numbers.set(document, [...(numbers.get(document) ?? []), number]);
  for (const [document, own] of numbers) {
    const all = own.map((number) => passages[number]!);
    const terms = Array.from({ length: Math.ceil(all.length / BLOCK) }, (_, n) =>
      packedTerms(all.slice(n * BLOCK, (n + 1) * BLOCK)),
    );
    words.put(String(document), { name: all[0]!.name, terms });
  }
  return ({ question }) => {
    const candidates = words
      .find(question, CANDIDATES, undefined)
      .map((one) => ({ ...one, base: "", generation: 1, words: one.score, meaning: 0 }));
    return fused(candidates, { limit: DEPTH, lexicalWeight: 1 }).map(
      ({ document, position }) => numbers.get(Number(document))![position]!,
    );
  };
}
