import type { Language } from "../languages.js";
import { readTerms } from "../packed-terms.js";
import { bagsOf, soughtIn } from "../terms.js";
import { Best } from "./best.js";

// Passages of one knowledge base, found by their words: Okapi BM25 over a
// passage, the headings above it and the name of its document. Postings are plain
// numbers, so that a term that stands in each of 20,000 passages is read in a
// millisecond.

/** What is found of a document by its words. */
export interface Written {
  readonly name: string;
  /** Of its blocks of passages, one after another: what packedTerms made. */
  readonly terms: readonly Uint8Array[];
}

/** A passage with some of the words: the position-th of its document, from 0. */
export interface Worded {
  readonly document: string;
  readonly position: number;
  /** How much of the question it has, from 0 to 1: rare words count more. */
  readonly score: number;
  /** It is one of few that have a name or number of the question as a whole. */
  readonly isExact: boolean;
}

const K = 1.2;
const B = 0.75;
/** How much a word as it is written counts in addition to its stem. */
const AS_WRITTEN = 0.3;
/** The part of the passages that is of a language, at least, if questions are read as of that language too. */
const SPOKEN = 0.02;
/** Passages that have a name or number as a whole, at most, to be found for certain. */
const FEW = 5;

/** A posting is the number of a passage times this, and how often the term stands in it, which is less than this. */
const TIMES = 128;
/** Passages that are gone before postings are cleared of them, at least; as many as there are, where that is more. */
const GONE = 1_000;

interface Place {
  readonly document: string;
  readonly position: number;
  readonly language: Language;
}

/** Words of the passages of one knowledge base. */
export class Words {
  readonly #postings = new Map<number, number[]>();
  /** The passages of a document, by their numbers. */
  readonly #documents = new Map<string, readonly number[]>();
  /** Passages that are not shown yet, by their document. */
  readonly #staged = new Map<string, { readonly numbers: number[]; readonly languages: Language[] }>();
  /** By number; undefined for what is gone, or staged. */
  readonly #places: (Place | undefined)[] = [];
  /** Words of each passage, and of all that are there. */
  readonly #lengths: number[] = [];
  #length = 0;
  /** Passages of each language. */
  readonly #languages = new Map<Language, number>();
  #free: number[] = [];
  #gone: number[] = [];
  #count = 0;

  constructor(private readonly gone = GONE) {}

  /** Puts a document, which is not there. */
  put(document: string, written: Written): void {
    this.unstage(document);
    this.stage(document, written);
    this.show(document);
  }

  /** Takes in some more blocks of a document, of which nothing is found until it is shown. */
  stage(document: string, { name, terms }: Written): void {
    const { numbers, languages } = this.#staged.get(document) ?? { numbers: [], languages: [] };
    this.#staged.set(document, { numbers, languages });
    const [named] = bagsOf([name]);
    const first = numbers.length;
    /** Where a term of the name stands in the text too. */
    const both = new Map([...named!.terms.keys()].map((term) => [term, new Set<number>()]));
    let before = first;
    for (const block of terms) {
      readTerms(block, {
        passage: (_position, language, length) => {
          const number = this.#free.pop() ?? this.#places.length;
          this.#places[number] = undefined;
          this.#lengths[number] = length + named!.length;
          numbers.push(number);
          languages.push(language);
        },
        term: (position, term, times) => {
          const number = numbers[before + position]!;
          both.get(term)?.add(number);
          this.#add(term, number, times + (named!.terms.get(term) ?? 0));
        },
      });
      before = numbers.length;
    }
    for (const [term, times] of named!.terms)
      for (const number of numbers.slice(first)) if (!both.get(term)!.has(number)) this.#add(term, number, times);
  }

  /** Shows what is staged of a document, which is not there. */
  show(document: string): void {
    const { numbers = [], languages = [] } = this.#staged.get(document) ?? {};
    this.#staged.delete(document);
    for (const [position, number] of numbers.entries()) {
      const language = languages[position]!;
      this.#places[number] = { document, position, language };
      this.#length += this.#lengths[number]!;
      this.#languages.set(language, (this.#languages.get(language) ?? 0) + 1);
    }
    this.#documents.set(document, numbers);
    this.#count += numbers.length;
    this.#tidy();
  }

  /** Forgets what is staged of a document. */
  unstage(document: string): void {
    this.#gone.push(...(this.#staged.get(document)?.numbers ?? []));
    this.#staged.delete(document);
    this.#tidy();
  }

  /** Takes a document out. */
  remove(document: string): void {
    const numbers = this.#documents.get(document) ?? [];
    this.#documents.delete(document);
    for (const number of numbers) {
      const { language } = this.#places[number]!;
      this.#languages.set(language, this.#languages.get(language)! - 1);
      this.#places[number] = undefined;
      this.#gone.push(number);
      this.#length -= this.#lengths[number]!;
    }
    this.#count -= numbers.length;
    this.#tidy();
  }

  /**
   * The passages that fit best, in no order; of these documents alone, if some are given. Beyond the limit come those
   * that are exact: few, as each name or number of the query has at most FEW.
   */
  find(query: string, limit: number, only: ReadonlySet<string> | undefined): readonly Worded[] {
    const size = this.#places.length;
    const scores = new Float64Array(size);
    const exact = new Uint8Array(size);
    const scratch = new Float64Array(size);
    const languages = [...this.#languages].flatMap(([language, passages]) =>
      passages > this.#count * SPOKEN ? [language] : [],
    );
    let most = 0;
    for (const { stems, written, isExact } of soughtIn(query, languages)) {
      const some = stems.map((term) => this.#living(term)).filter(({ length }) => length > 0);
      const touched: number[] = [];
      for (const postings of some)
        for (const posting of postings) {
          const number = Math.floor(posting / TIMES);
          const fit = this.#fit(posting, number);
          if (scratch[number] === 0) touched.push(number);
          if (fit > scratch[number]!) scratch[number] = fit;
        }
      const weight = this.#weight(touched.length);
      most += weight * (K + 1);
      for (const number of touched) {
        scores[number]! += weight * scratch[number]!;
        scratch[number] = 0;
        if (isExact && touched.length <= FEW) exact[number] = 1;
      }
      if (written === undefined) continue;
      const postings = this.#living(written);
      const more = AS_WRITTEN * this.#weight(postings.length);
      most += more * (K + 1);
      for (const posting of postings) {
        const number = Math.floor(posting / TIMES);
        scores[number]! += more * this.#fit(posting, number);
      }
    }
    const best = new Best<Worded>(limit);
    const certain: Worded[] = [];
    for (let number = 0; number < size; number++) {
      const score = scores[number]! / most;
      const isExact = exact[number] === 1;
      if (!(score > 0) || !(isExact || score > best.least)) continue;
      const { document, position } = this.#places[number]!;
      if (only?.has(document) === false) continue;
      if (isExact) certain.push({ document, position, score, isExact });
      else best.add({ document, position, score, isExact });
    }
    return [...best.all(), ...certain];
  }

  /** How well a passage fits a term, from 0 to K + 1. */
  #fit(posting: number, number: number): number {
    const times = posting % TIMES;
    return (times * (K + 1)) / (times + K * (1 - B + (B * this.#lengths[number]! * this.#count) / this.#length));
  }

  /** The weight of a term that this number of passages has. */
  #weight(passages: number): number {
    return Math.log(1 + (this.#count - passages + 0.5) / (passages + 0.5));
  }

  #add(term: number, number: number, times: number): void {
    const posting = number * TIMES + Math.min(times, TIMES - 1);
    const postings = this.#postings.get(term);
    if (postings === undefined) this.#postings.set(term, [posting]);
    else postings.push(posting);
  }

  #living(term: number): readonly number[] {
    const all = this.#postings.get(term) ?? [];
    if (this.#gone.length === 0 && this.#staged.size === 0) return all;
    return all.filter((posting) => this.#places[Math.floor(posting / TIMES)] !== undefined);
  }

  /** Clears the postings of what is gone, if that is much; their numbers are free then. Staged ones look as if gone. */
  #tidy(): void {
    if (this.#staged.size > 0 || this.#gone.length <= Math.max(this.gone, this.#count)) return;
    for (const term of this.#postings.keys()) {
      const living = this.#living(term);
      if (living.length === 0) this.#postings.delete(term);
      else this.#postings.set(term, [...living]);
    }
    this.#free = this.#free.concat(this.#gone);
    this.#gone = [];
  }
}
