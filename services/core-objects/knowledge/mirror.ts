import { LRUCache } from "lru-cache";
import type { DocCollection, Store, VectorSearch } from "../../shared/store/store.js";
import type { Found, Question } from "./apart/ranker.js";
import { CANDIDATES } from "./candidates.js";
import { VECTORS, type VectorRecord } from "./records.js";
import { ServerVectors } from "./server-vectors.js";

/** Documents that are not looked for again, since they are there. */
const MAX_DOCUMENTS = 100_000;

/** One generation of a document, whose vectors are read when they are needed. */
export interface Mirrored {
  readonly document: string;
  readonly generation: number;
  readonly embedder: string;
  readonly vectors: () => Promise<{ readonly all: Float32Array; readonly dimensions: number }>;
}

/**
 * Large knowledge bases in the database's own search for vectors, where it has
 * one: whoever reads such a knowledge base into memory brings what is not there
 * yet, in the background, and asks it from then on.
 */
export interface Mirror {
  /** Brings the vectors of a knowledge base there. */
  bring(base: string, revision: string, documents: readonly Mirrored[]): void;
  /** What it finds, of the knowledge bases of a question that are there as a whole. */
  find(question: Question, revisions: ReadonlyMap<string, string>): Promise<readonly Found[]>;
}

interface Engine {
  readonly engine: ServerVectors;
  readonly search: VectorSearch;
  readonly dimensions: number;
}

interface Brought {
  readonly revision: string;
  readonly engines: ReadonlyMap<string, Engine>;
}

/** @param failed hears what could not be brought or asked: what is in memory answers then. */
export function createMirror(
  store: Pick<Store, "collection" | "vectorSearch">,
  failed: (error: Error) => void,
): Mirror | undefined {
  if (store.vectorSearch === undefined) return undefined;
  const vectors: DocCollection<VectorRecord> = store.collection<VectorRecord>(VECTORS.name);
  const searches = new Map<number, Promise<VectorSearch | undefined>>();
  const brought = new Map<string, Brought>();
  const bringing = new Set<string>();
  /** By document: the generation whose vectors this process put there, or saw there. */
  const put = new LRUCache<string, number>({ max: MAX_DOCUMENTS });

  function searchOf(dimensions: number): Promise<VectorSearch | undefined> {
    const spec = { name: `vectors_${dimensions}`, path: "vector", dimensions, filters: ["space", "document"] };
    const known = searches.get(dimensions);
    if (known !== undefined) return known;
    const search = store.vectorSearch?.(VECTORS.name, spec) ?? Promise.resolve(undefined);
    searches.set(dimensions, search);
    search.catch(() => searches.delete(dimensions));
    return search;
  }

  async function bringAll(base: string, documents: readonly Mirrored[]): Promise<Brought["engines"] | undefined> {
    const engines = new Map(brought.get(base)?.engines);
    for (const { document, generation, embedder, ...one } of documents) {
      if (put.get(document) === generation && engines.has(embedder)) continue;
      const { all, dimensions } = await one.vectors();
      const search = await searchOf(dimensions);
      if (search === undefined) return undefined;
      const known = engines.get(embedder);
      // Of another length they are of another model, whatever its name is.
      const space = `${base} ${dimensions} ${embedder}`;
      const engine =
        known?.dimensions === dimensions ? known.engine : new ServerVectors({ vectors, search, dimensions, space });
      engines.set(embedder, { engine, search, dimensions });
      await engine.put(document, generation, all);
      put.set(document, generation);
    }
    return engines;
  }

  return {
    bring(base, revision, documents) {
      if (bringing.has(base)) return;
      bringing.add(base);
      bringAll(base, documents)
        .then((engines) => engines && brought.set(base, { revision, engines }))
        .catch(failed)
        .finally(() => bringing.delete(base));
    },
    async find({ bases, vectors, documents }, revisions) {
      const only = documents && new Set(documents);
      const found: Found[] = [];
      for (const base of bases) {
        const there = brought.get(base);
        // Of an older revision it lacks what came since.
        if (there === undefined || there.revision !== revisions.get(base)) continue;
        for (const [embedder, { engine, search, dimensions }] of there.engines) {
          const vector = vectors[embedder];
          if (vector?.length !== dimensions) continue;
          try {
            if (await search.isReady())
              found.push({ base, embedder, near: await engine.nearest(vector, CANDIDATES, only) });
          } catch (error) {
            failed(error as Error);
          }
        }
      }
      return found;
    },
  };
}
