import { Best } from "./best.js";
import { termOf, termsIn } from "./terms.js";

// Passages of one knowledge base, found by their words: BM25+ (Lv and Zhai,
// 2011) over three fields, with the constants and the sum of MiniSearch, which
// the tests hold it to. Postings are plain numbers, so that a term that stands
// in each of 20,000 passages is read in a millisecond.

/** What is found of a document by its words. */
export interface Written {
  readonly name: string;
  readonly passages: readonly { readonly text: string; readonly headings: readonly string[] }[];
}

/** A passage with some of the words: the position-th of its document, from 0. */
export interface Worded {
  readonly document: string;
  readonly position: number;
  readonly score: number;
}

const K = 1.2;
const B = 0.7;
const D = 0.5;
/** How much a term counts in the text of a passage, in the headings above it, and in the name of its document. */
const BOOSTS = [1, 1.5, 1.5] as const;

/** A posting is the number of a passage times this, and how often the term stands in it, which is less than this. */
const TIMES = 128;
/** Passages that are gone before postings are cleared of them, at least; as many as there are, where that is more. */
const GONE = 1_000;

interface Field {
  readonly postings: Map<string, number[]>;
  /** Different words of each passage. */
  readonly lengths: number[];
  /** Of all passages that are there. */
  length: number;
}

/** Words of the passages of one knowledge base. */
export class Words {
  readonly #fields: readonly Field[] = BOOSTS.map(() => ({ postings: new Map(), lengths: [], length: 0 }));
  /** The passages of a document, by their numbers. */
  readonly #documents = new Map<string, readonly number[]>();
  /** By number; undefined for what is gone. */
  readonly #places: ({ readonly document: string; readonly position: number } | undefined)[] = [];
  #free: number[] = [];
  #gone: number[] = [];
  #count = 0;

  constructor(private readonly gone = GONE) {}

  /** Puts a document, which is not there. */
  put(document: string, { name, passages }: Written): void {
    const numbers = passages.map(({ text, headings }, position) => {
      const number = this.#free.pop() ?? this.#places.length;
      this.#places[number] = { document, position };
      for (const [i, field] of [text, headings.join(" "), name].entries()) add(this.#fields[i]!, number, field);
      return number;
    });
    this.#documents.set(document, numbers);
    this.#count += numbers.length;
  }

  /** Takes a document out. */
  remove(document: string): void {
    const numbers = this.#documents.get(document) ?? [];
    this.#documents.delete(document);
    for (const number of numbers) {
      this.#places[number] = undefined;
      this.#gone.push(number);
      for (const field of this.#fields) field.length -= field.lengths[number]!;
    }
    this.#count -= numbers.length;
    if (this.#gone.length > Math.max(this.gone, this.#count)) this.#clear();
  }

  /** The passages that fit best, in no order; of these documents alone, where some are given. */
  find(query: string, limit: number, only: ReadonlySet<string> | undefined): readonly Worded[] {
    const scores = new Float64Array(this.#places.length);
    // How many different terms of the query stand in a passage.
    const matched = new Uint16Array(this.#places.length);
    const terms = termsIn(query).flatMap((word) => termOf(word) ?? []);
    for (const term of new Set(terms)) {
      const times = terms.filter((one) => one === term).length;
      const seen = new Uint8Array(this.#places.length);
      for (const [i, field] of this.#fields.entries()) this.#score(field, term, times * BOOSTS[i]!, { scores, seen });
      for (let number = 0; number < seen.length; number++) matched[number]! += seen[number]!;
    }
    const best = new Best<Worded>(limit);
    for (let number = 0; number < scores.length; number++) {
      const score = scores[number]! * matched[number]!;
      if (score <= 0 || score <= best.least) continue;
      const place = this.#places[number]!;
      if (only?.has(place.document) !== false) best.add({ ...place, score });
    }
    return best.all();
  }

  #score(
    field: Field,
    term: string,
    boost: number,
    { scores, seen }: { readonly scores: Float64Array; readonly seen: Uint8Array },
  ): void {
    const postings = this.#living(field, term);
    const idf = Math.log(1 + (this.#count - postings.length + 0.5) / (postings.length + 0.5));
    const average = field.length / this.#count;
    for (const posting of postings) {
      const number = Math.floor(posting / TIMES);
      const times = posting % TIMES;
      const length = field.lengths[number]! / average;
      scores[number]! += boost * idf * (D + (times * (K + 1)) / (times + K * (1 - B + B * length)));
      seen[number] = 1;
    }
  }

  #living({ postings }: Field, term: string): number[] {
    const all = postings.get(term) ?? [];
    if (this.#gone.length === 0) return all;
    return all.filter((posting) => this.#places[Math.floor(posting / TIMES)] !== undefined);
  }

  /** Clears the postings of what is gone, whose numbers are free then. */
  #clear(): void {
    for (const field of this.#fields) {
      for (const term of field.postings.keys()) {
        const living = this.#living(field, term);
        if (living.length === 0) field.postings.delete(term);
        else field.postings.set(term, living);
      }
    }
    this.#free = this.#free.concat(this.#gone);
    this.#gone = [];
  }
}

function add(field: Field, number: number, text: string): void {
  const words = termsIn(text);
  field.lengths[number] = new Set(words).size;
  field.length += field.lengths[number]!;
  const times = new Map<string, number>();
  for (const word of words) {
    const term = termOf(word);
    if (term !== null) times.set(term, (times.get(term) ?? 0) + 1);
  }
  for (const [term, count] of times) {
    const posting = number * TIMES + Math.min(count, TIMES - 1);
    const postings = field.postings.get(term);
    if (postings === undefined) field.postings.set(term, [posting]);
    else postings.push(posting);
  }
}
