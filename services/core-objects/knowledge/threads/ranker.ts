import MiniSearch from "minisearch";
import { termOf, termsIn } from "./terms.js";

/** One generation of a document, to be found. */
export interface Searchable {
  readonly document: string;
  readonly name: string;
  readonly generation: number;
  readonly embedder: string;
  readonly passages: readonly { readonly text: string; readonly headings: readonly string[] }[];
  /** Unit vectors of the passages, one after another. */
  readonly vectors: Float32Array;
}

/** What is looked for, and where. */
export interface Question {
  readonly query: string;
  /** Of the query, by embedder; what was embedded by another one is found by its words alone. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
  /** Only these knowledge bases: what the caller may see, before anything is ranked. */
  readonly bases: readonly string[];
  /** Only these documents, where given. */
  readonly documents?: readonly string[] | undefined;
  readonly limit: number;
  /** How much words count, from 0 to 1; the rest is for meaning. */
  readonly lexicalWeight: number;
}

/** A passage that was found: the position-th of its document, from 0. */
export interface Hit {
  readonly base: string;
  readonly document: string;
  readonly generation: number;
  readonly position: number;
  /** From 0 to 1. */
  readonly score: number;
}

interface Held {
  readonly document: string;
  readonly generation: number;
  readonly embedder: string;
  readonly vectors: Float32Array;
  /** The id of its first passage in the index of words; the others follow. */
  readonly first: number;
  readonly count: number;
}

interface Entry {
  readonly id: number;
  readonly text: string;
  readonly headings: string;
  readonly name: string;
}

interface Candidate {
  readonly base: string;
  readonly held: Held;
  readonly words: number;
  meaning: number;
}

interface Base {
  readonly words: MiniSearch<Entry>;
  readonly documents: Map<string, Held>;
  /** What has an id in `words`. */
  readonly holders: Map<number, Held>;
}

/** Passages with the best matching words that take part in the ranking. */
const CANDIDATES = 200;
/** Of a passage that was embedded by another model than the query. */
const NOT_COMPARED = Number.NEGATIVE_INFINITY;

/** Passages in memory, ranked by words (BM25) and by meaning (cosine), each within what may be seen. */
export class Ranker {
  readonly #bases = new Map<string, Base>();
  #next = 0;

  /** Puts a generation of a document in the place of the one before, at once. */
  put(base: string, one: Searchable): void {
    const held = this.#baseOf(base);
    this.remove(base, one.document);
    const first = this.#next;
    const { document, generation, embedder, vectors, name } = one;
    const holder: Held = { document, generation, embedder, vectors, first, count: one.passages.length };
    this.#next += holder.count;
    held.words.addAll(
      one.passages.map(({ text, headings }, i) => ({ id: first + i, text, headings: headings.join(" "), name })),
    );
    held.documents.set(document, holder);
    for (let id = first; id < this.#next; id++) held.holders.set(id, holder);
  }

  /** Takes a document out. */
  remove(base: string, document: string): void {
    const held = this.#bases.get(base);
    const one = held?.documents.get(document);
    if (held === undefined || one === undefined) return;
    held.documents.delete(document);
    for (let id = one.first; id < one.first + one.count; id++) {
      held.holders.delete(id);
      held.words.discard(id);
    }
  }

  /** Forgets a knowledge base. */
  drop(base: string): void {
    this.#bases.delete(base);
  }

  /**
   * The passages that fit best. Words and meaning are each brought to the range
   * from 0 to 1 over what may be found, and added by their weight.
   */
  rank({ query, vectors, bases, documents, limit, lexicalWeight }: Question): Hit[] {
    const only = documents === undefined ? undefined : new Set(documents);
    const within = bases.flatMap((id) => {
      const base = this.#bases.get(id);
      return base === undefined ? [] : [{ id, base }];
    });
    const candidates = new Map<number, Candidate>();
    for (const { id, base } of within) {
      for (const { id: at, score } of wordsIn(base, query, only))
        candidates.set(at, { base: id, held: base.holders.get(at)!, words: score, meaning: NOT_COMPARED });
    }
    const scale = this.#addMeaning(within, vectors, only, candidates);
    const most = Math.max(...[...candidates.values()].map(({ words }) => words), Number.MIN_VALUE);
    const weight = scale === undefined ? 1 : lexicalWeight;
    return [...candidates]
      .map(([at, { base, held, words, meaning }]) => {
        const { document, generation, first } = held;
        const score = weight * (words / most) + (1 - weight) * (scale?.(meaning) ?? 0);
        return { base, document, generation, position: at - first, score };
      })
      .sort((a, b) => b.score - a.score || (a.document < b.document ? -1 : 1) || a.position - b.position)
      .slice(0, limit);
  }

  /**
   * Adds what means nearly the same to the candidates, and what those by words mean.
   *
   * @returns what brings a cosine to the range from 0 to 1; undefined where nothing was compared.
   */
  #addMeaning(
    within: readonly { readonly id: string; readonly base: Base }[],
    vectors: Question["vectors"],
    only: ReadonlySet<string> | undefined,
    candidates: Map<number, Candidate>,
  ): ((cosine: number) => number) | undefined {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const best = new Best(CANDIDATES);
    for (const { id, base } of within) {
      for (const held of base.documents.values()) {
        const vector = vectors[held.embedder];
        if (vector === undefined || only?.has(held.document) === false) continue;
        for (let i = 0; i < held.count; i++) {
          const cosine = dot(vector, held.vectors, i);
          if (cosine < least) least = cosine;
          if (cosine > most) most = cosine;
          const known = candidates.get(held.first + i);
          if (known !== undefined) known.meaning = cosine;
          else if (cosine > best.least) best.add({ at: held.first + i, cosine, base: id, held });
        }
      }
    }
    for (const { at, cosine, base, held } of best.all()) candidates.set(at, { base, held, words: 0, meaning: cosine });
    const range = most - least;
    if (range < 0) return undefined;
    return (cosine) => (cosine === NOT_COMPARED ? 0 : range === 0 ? 1 : (cosine - least) / range);
  }

  #baseOf(base: string): Base {
    const held = this.#bases.get(base) ?? { words: newWords(), documents: new Map(), holders: new Map() };
    this.#bases.set(base, held);
    return held;
  }
}

function newWords(): MiniSearch<Entry> {
  return new MiniSearch<Entry>({
    fields: ["text", "headings", "name"],
    tokenize: termsIn,
    processTerm: termOf,
    searchOptions: { boost: { headings: 1.5, name: 1.5 } },
  });
}

function wordsIn(base: Base, query: string, only: ReadonlySet<string> | undefined) {
  const filter = only && { filter: ({ id }: { id: number }) => only.has(base.holders.get(id)!.document) };
  return base.words.search(query, filter).slice(0, CANDIDATES);
}

function dot(vector: Float32Array, vectors: Float32Array, i: number): number {
  const at = i * vector.length;
  let sum = 0;
  for (let d = 0; d < vector.length; d++) sum += vector[d]! * vectors[at + d]!;
  return sum;
}

interface Near {
  readonly at: number;
  readonly cosine: number;
  readonly base: string;
  readonly held: Held;
}

/** The nearest so many of all that are added. */
class Best {
  #found: Near[] = [];
  /** What a further one must exceed. */
  least = Number.NEGATIVE_INFINITY;

  constructor(private readonly size: number) {}

  add(one: Near): void {
    this.#found.push(one);
    // Sorted now and then: cheaper than a heap where few of many come in.
    if (this.#found.length >= 4 * this.size) this.#cut();
  }

  all(): readonly Near[] {
    this.#cut();
    return this.#found;
  }

  #cut(): void {
    this.#found = this.#found.sort((a, b) => b.cosine - a.cosine).slice(0, this.size);
    if (this.#found.length === this.size) this.least = this.#found[this.size - 1]!.cosine;
  }
}
