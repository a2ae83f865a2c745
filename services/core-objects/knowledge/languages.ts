import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as hungarian } from "@orama/stemmers/hungarian";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as romanian } from "@orama/stemmers/romanian";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { stemmer as turkish } from "@orama/stemmers/turkish";
import { stopwords as danishStops } from "@orama/stopwords/danish";
import { stopwords as dutchStops } from "@orama/stopwords/dutch";
import { stopwords as englishStops } from "@orama/stopwords/english";
import { stopwords as finnishStops } from "@orama/stopwords/finnish";
import { stopwords as frenchStops } from "@orama/stopwords/french";
import { stopwords as germanStops } from "@orama/stopwords/german";
import { stopwords as hungarianStops } from "@orama/stopwords/hungarian";
import { stopwords as italianStops } from "@orama/stopwords/italian";
import { stopwords as norwegianStops } from "@orama/stopwords/norwegian";
import { stopwords as portugueseStops } from "@orama/stopwords/portuguese";
import { stopwords as romanianStops } from "@orama/stopwords/romanian";
import { stopwords as russianStops } from "@orama/stopwords/russian";
import { stopwords as spanishStops } from "@orama/stopwords/spanish";
import { stopwords as swedishStops } from "@orama/stopwords/swedish";
import { stopwords as turkishStops } from "@orama/stopwords/turkish";

// A text is of the language whose commonest words it has most of. What is
// written without spaces has no stems, and is of no language here.

/** A language by its number, which records keep: append only. 0 means that it is not known. */
export type Language = number;

/** Of what has none of the languages below. */
export const NO_LANGUAGE: Language = 0;

const STEMMERS: readonly ((word: string) => string)[] = [
  ...[(word: string) => word, english, german, french, spanish, italian, portuguese, dutch, swedish, danish],
  ...[norwegian, finnish, russian, turkish, romanian, hungarian],
];
const COMMON: readonly ReadonlySet<string>[] = [
  ...[[], englishStops, germanStops, frenchStops, spanishStops, italianStops, portugueseStops, dutchStops],
  ...[swedishStops, danishStops, norwegianStops, finnishStops, russianStops, turkishStops, romanianStops],
  hungarianStops,
].map((words) => new Set(words));
const LANGUAGES = COMMON.length;

/** The languages that a word is common in. */
const ofWord = new Map<string, Language[]>();
// One letter is a sign as often as a word.
for (const [language, words] of COMMON.entries())
  for (const word of words) if (word.length > 1) ofWord.set(word, [...(ofWord.get(word) ?? []), language]);

/** Words that make a question one of a language that no text is of. */
const FOREIGN = 2;

/** How often a text has the commonest words of each language. */
export class Tongue {
  readonly #counts = new Uint32Array(LANGUAGES);

  add(word: string): void {
    for (const language of ofWord.get(word) ?? []) this.#counts[language]!++;
  }

  /** The language, if this number of words says so; otherwise the other one. */
  languageOr(other: Language, enough = 1): Language {
    let best: Language = NO_LANGUAGE;
    for (let one = 1; one < LANGUAGES; one++) if (this.#counts[one]! > this.#counts[best]!) best = one;
    return this.#counts[best]! >= enough ? best : other;
  }

  /**
   * The language of a question to texts in some languages. Another one needs two words: "var" of a path is a word of
   * Swedish too, and "die" is one of German.
   */
  among(spoken: ReadonlySet<Language>): Language {
    let best: Language = NO_LANGUAGE;
    for (let one = 1; one < LANGUAGES; one++) {
      const more = this.#counts[one]! - this.#counts[best]!;
      const isSpoken = spoken.has(one);
      if (!isSpoken && this.#counts[one]! < FOREIGN) continue;
      if (more > 0 || (more === 0 && this.#counts[one]! > 0 && isSpoken && !spoken.has(best))) best = one;
    }
    return best;
  }
}

/** Whether a word is among the commonest of a language: it tells no text from another. */
export function isCommon(word: string, language: Language): boolean {
  return COMMON[language]?.has(word) === true;
}

/** Stems that were made lately: most words of a text are its commonest. */
const MAX_KNOWN = 50_000;
const known: Map<string, string>[] = COMMON.map(() => new Map());

/** What the forms of a word have in common. */
export function stemOf(word: string, language: Language): string {
  const stems = known[language];
  if (language === NO_LANGUAGE || stems === undefined || word.length < 3) return word;
  const before = stems.get(word);
  if (before !== undefined) return before;
  if (stems.size >= MAX_KNOWN) stems.clear();
  const stem = STEMMERS[language]!(word);
  stems.set(word, stem);
  return stem;
}
