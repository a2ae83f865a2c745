import { CANDIDATES, COMPARED } from "../candidates.js";
import { type Candidate, fused, type Hit, type Weights } from "../fused.js";
import { Best } from "./best.js";
import { ExactVectors } from "./exact-vectors.js";
import type { IndexClass } from "./index-class.js";
import { IndexedVectors } from "./indexed-vectors.js";
import { Merits } from "./merit.js";
import type { AddedVectors, Portion, Searchable } from "./searchable.js";
import type { Near } from "./vectors.js";
import { type Worded, Words } from "./words.js";

/** What another engine found nearest in a knowledge base to the vector of an embedder. */
export interface Found {
  readonly base: string;
  readonly embedder: string;
  readonly near: readonly Near[];
}

/** What is looked for, and where. */
export interface Question {
  readonly query: string;
  /** Of the query, by embedder; what was embedded by another one is found by its words alone. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
  /** Only these knowledge bases: what the caller may see, before anything is ranked. */
  readonly bases: readonly string[];
  /** Those of them whose passages are found by their words alone. */
  readonly wordsAlone?: readonly string[];
  /** Only these documents, where given. */
  readonly documents?: readonly string[] | undefined;
  /** What need not be looked for any more. */
  readonly found?: readonly Found[];
}

/** Vectors of one knowledge base by one embedder. */
interface Space {
  readonly exact: ExactVectors;
  /** An index of them, from when it was first needed. */
  indexed?: IndexedVectors;
}

interface HeldDocument {
  readonly generation: number;
  readonly embedder: string;
  /** Where its vectors are; undefined as long as it is found by its words alone. */
  readonly space: Space | undefined;
}

/** One whose vectors are there. */
interface Embedded extends HeldDocument {
  readonly space: Space;
}

interface Base {
  readonly words: Words;
  readonly documents: Map<string, HeldDocument>;
  readonly spaces: Map<string, Space>;
}

interface Within {
  readonly id: string;
  readonly base: Base;
}

/** What a cosine merits by itself: less than any word. */
const NEAREST = 0.01;
/** Vectors of a knowledge base that are worth an index. */
const INDEXED = 2_000;

/** Passages in memory, ranked by words (BM25) and by what their meaning merits, each within what may be seen. */
export class Ranker {
  readonly #bases = new Map<string, Base>();
  /** Indexes that are not complete. */
  readonly #growing = new Set<IndexedVectors>();

  /**
   * @param index what makes an index; each vector is compared where there is none.
   * @param compared how many vectors a question is compared with, at most, where there is.
   */
  constructor(
    private readonly index?: IndexClass,
    private readonly compared: number = COMPARED,
  ) {}

  /** Takes in some blocks of a large document, so that nobody waits for all of them; nothing finds it before it is put. */
  stage(id: string, { document, name, terms, isFirst }: Portion): void {
    const { words } = this.#baseOf(id);
    if (isFirst) words.unstage(document);
    words.stage(document, { name, terms });
  }

  /** Forgets what is staged of a document. */
  unstage(id: string, document: string): void {
    this.#bases.get(id)?.words.unstage(document);
  }

  /** Puts a generation of a document in the place of the one before, at once. */
  put(
    id: string,
    { document, generation, embedder, vectors, name, passages, terms, isStaged = false }: Searchable,
  ): void {
    const base = this.#baseOf(id);
    if (!isStaged) base.words.unstage(document);
    base.words.stage(document, { name, terms });
    this.remove(id, document);
    base.words.show(document);
    base.documents.set(document, { generation, embedder: "", space: undefined });
    if (vectors.length > 0)
      this.embed(id, { document, generation, embedder, vectors, dimensions: vectors.length / passages });
  }

  /** Adds the vectors of a generation of a document, if its words are there. */
  embed(id: string, { document, generation, embedder, vectors, dimensions }: AddedVectors): void {
    const base = this.#bases.get(id);
    const one = base?.documents.get(document);
    if (base === undefined || one?.generation !== generation || one.space !== undefined) return;
    const space = spaceOf(base, embedder, dimensions);
    (space.indexed ?? space.exact).put(document, generation, vectors);
    if (space.indexed !== undefined) this.#growing.add(space.indexed);
    base.documents.set(document, { generation, embedder, space });
  }

  #baseOf(id: string): Base {
    const base = this.#bases.get(id) ?? { words: new Words(), documents: new Map(), spaces: new Map() };
    this.#bases.set(id, base);
    return base;
  }

  /** Takes a document out. */
  remove(id: string, document: string): void {
    const base = this.#bases.get(id);
    const one = base?.documents.get(document);
    if (base === undefined || one === undefined) return;
    base.documents.delete(document);
    base.words.remove(document);
    (one.space?.indexed ?? one.space?.exact)?.remove(document);
  }

  /** Forgets a knowledge base. */
  drop(id: string): void {
    for (const { indexed } of this.#bases.get(id)?.spaces.values() ?? []) if (indexed) this.#growing.delete(indexed);
    this.#bases.delete(id);
  }

  /** Takes some more vectors into indexes. @returns whether there are further ones. */
  grow(): boolean {
    const [one] = this.#growing;
    if (one !== undefined && !one.grow()) this.#growing.delete(one);
    return this.#growing.size > 0;
  }

  /** The passages that fit best. */
  rank({ limit, lexicalWeight, ...question }: Question & Weights): Hit[] {
    return fused(this.candidates(question), { limit, lexicalWeight });
  }

  /** The passages that take part in the ranking, of the knowledge bases that are held. */
  candidates({ query, vectors, bases, wordsAlone = [], documents, found = [] }: Question): Candidate[] {
    const only = documents === undefined ? undefined : new Set(documents);
    const within = bases.flatMap((id) => {
      const base = this.#bases.get(id);
      return base === undefined ? [] : [{ id, base }];
    });
    const silent = new Set(wordsAlone);
    const candidates = new Map<string, Candidate>();
    const merits = new Merits(vectors);
    for (const one of wordsIn(within, query, only)) {
      const { generation, embedder, space } = this.#bases.get(one.base)!.documents.get(one.document)!;
      const vector = silent.has(one.base) ? undefined : vectors[embedder];
      const cosine = vector && space?.exact.cosine(vector, one.document, one.position);
      const meaning = space === undefined || cosine === undefined ? 0 : merits.of(space.exact, embedder, cosine);
      candidates.set(`${one.document} ${one.position}`, { ...one, generation, words: one.score, meaning });
    }
    const meant = within.filter(({ id }) => !silent.has(id));
    for (const one of this.#nearest(meant, vectors, only, found)) {
      const key = `${one.document} ${one.position}`;
      if (candidates.has(key)) continue;
      const { embedder, space } = this.#bases.get(one.base)!.documents.get(one.document) as Embedded;
      // Where words find too little, the nearest follow, however far they are.
      const meaning = Math.max(merits.of(space.exact, embedder, one.score), NEAREST * one.score);
      candidates.set(key, { ...one, words: 0, meaning, isExact: false });
    }
    return [...candidates.values()];
  }

  /** Those of the knowledge bases that are held. */
  held(bases: readonly string[]): string[] {
    return bases.filter((id) => this.#bases.has(id));
  }

  #nearest(
    within: readonly Within[],
    vectors: Question["vectors"],
    only: ReadonlySet<string> | undefined,
    found: readonly Found[],
  ): readonly (Near & { readonly base: string })[] {
    const best = new Best<Near & { readonly base: string }>(CANDIDATES);
    const spaces = within.flatMap(({ id, base }) =>
      Object.entries(vectors).flatMap(([embedder, vector]) => {
        const space = base.spaces.get(spaceKey(embedder, vector.length));
        return space === undefined ? [] : [{ id, base, embedder, vector, space }];
      }),
    );
    const isMuch = spaces.reduce((sum, { space }) => sum + space.exact.size, 0) > this.compared;
    for (const { id, base, embedder, vector, space } of spaces) {
      const known = found.find((one) => one.base === id && one.embedder === embedder)?.near;
      for (const one of known ?? this.#engine(space, isMuch).nearest(vector, CANDIDATES, only)) {
        const score = known === undefined ? one.score : space.exact.cosine(vector, one.document, one.position);
        const isHeld = base.documents.get(one.document)?.generation === one.generation;
        if (isHeld && score !== undefined) best.add({ ...one, score, base: id });
      }
    }
    return best.all();
  }

  #engine(space: Space, isMuch: boolean): ExactVectors | IndexedVectors {
    if (!isMuch || this.index === undefined || space.exact.size < Math.min(INDEXED, this.compared)) return space.exact;
    if (space.indexed === undefined) {
      space.indexed = new IndexedVectors(space.exact, this.index);
      this.#growing.add(space.indexed);
    }
    return space.indexed;
  }
}

function wordsIn(within: readonly Within[], query: string, only: ReadonlySet<string> | undefined) {
  const best = new Best<Worded & { readonly base: string }>(CANDIDATES);
  const certain: (Worded & { readonly base: string })[] = [];
  for (const { id, base } of within)
    for (const one of base.words.find(query, CANDIDATES, only)) {
      if (one.isExact) certain.push({ ...one, base: id });
      else best.add({ ...one, base: id });
    }
  return [...best.all(), ...certain];
}

function spaceOf({ spaces }: Base, embedder: string, dimensions: number): Space {
  const key = spaceKey(embedder, dimensions);
  const space = spaces.get(key) ?? { exact: new ExactVectors(dimensions) };
  spaces.set(key, space);
  return space;
}

/** Vectors of another length are of another model, whatever its name is. */
function spaceKey(embedder: string, dimensions: number): string {
  return `${dimensions} ${embedder}`;
}
