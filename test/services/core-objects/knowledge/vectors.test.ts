import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ExactVectors } from "../../../../services/core-objects/knowledge/apart/exact-vectors.js";
import { indexClass } from "../../../../services/core-objects/knowledge/apart/index-class.js";
import { IndexedVectors } from "../../../../services/core-objects/knowledge/apart/indexed-vectors.js";
import type { Vectors } from "../../../../services/core-objects/knowledge/apart/vectors.js";
import { VECTORS, type VectorRecord } from "../../../../services/core-objects/knowledge/records.js";
import { ServerVectors } from "../../../../services/core-objects/knowledge/server-vectors.js";
import { randomOf } from "../../../support/random.js";
import { titled } from "../../../support/titled.js";
import { backends } from "../../shared/store/backends.js";
import { standIn } from "./stand-in-search.js";

// What every engine of vectors is asked, and how many of the nearest it finds.

const DIMENSIONS = 32;
const Index = indexClass();

interface Engine {
  readonly title: string;
  readonly missing?: string | undefined;
  /** Of the ten nearest, how many it finds at least, of 1. */
  readonly recall: number;
  /** `isLate`: what is asked before it settled is of some moments ago. */
  open(): Promise<{ vectors: Vectors; settle(): Promise<void>; isLate?: boolean; close(): Promise<void> }>;
}

const nothing = async (): Promise<void> => {};

const ENGINES: Engine[] = [
  {
    title: "comparing each",
    recall: 1,
    open: async () => ({ vectors: new ExactVectors(DIMENSIONS), settle: nothing, close: nothing }),
  },
  {
    title: "an index by usearch",
    missing: Index === undefined ? "usearch has no binary for this system" : undefined,
    recall: 0.95,
    async open() {
      const vectors = new IndexedVectors(new ExactVectors(DIMENSIONS), Index!);
      const settle = async (): Promise<void> => {
        while (vectors.grow());
      };
      return { vectors, settle, close: nothing };
    },
  },
];

// The one of an independent server would say nothing more of what is asked here.
for (const backend of backends.filter(({ title }) => !title.includes("java"))) {
  ENGINES.push({
    title: `the search of the database, ${backend.title}`,
    missing: backend.missing,
    recall: 0.95,
    async open() {
      const { store, close } = await backend.open();
      await store.ensure([VECTORS]);
      const vectors = store.collection<VectorRecord>(VECTORS.name);
      const spec = {
        name: `vectors_${DIMENSIONS}`,
        path: "vector",
        dimensions: DIMENSIONS,
        filters: ["space", "document"],
      };
      const own = await store.vectorSearch?.(VECTORS.name, spec);
      const space = randomUUID();
      const engine = new ServerVectors({ vectors, search: own ?? standIn(vectors), dimensions: DIMENSIONS, space });
      const near = new ServerVectors({
        vectors,
        search: own ?? standIn(vectors),
        dimensions: DIMENSIONS,
        space: "another",
      });
      await near.put("of another", 1, joined(some(3)));
      // What it answers is some moments old.
      const settle = async (): Promise<void> => {
        if (own === undefined) return;
        const there = await vectors.countDocuments({ space });
        const isThere = async (): Promise<boolean> =>
          (await own.isReady()) &&
          (await own.nearest({ vector: unit(), limit: 5_000, filter: { space } })).length === there;
        await vi.waitFor(async () => expect(await isThere()).toBe(true), { timeout: 60_000, interval: 500 });
      };
      return { vectors: engine, settle, isLate: own !== undefined, close };
    },
  });
}

const random = randomOf(1);

function unit(near?: Float32Array): Float32Array {
  const vector = new Float32Array(DIMENSIONS).map((_, d) => random() - 0.5 + 1.5 * (near?.[d] ?? 0));
  const length = Math.hypot(...vector);
  return vector.map((one) => one / length);
}

const TOPICS = Array.from({ length: 40 }, () => unit());
const some = (count: number): Float32Array[] =>
  Array.from({ length: count }, (_, i) => unit(TOPICS[i % TOPICS.length]));

function joined(vectors: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(vectors.length * DIMENSIONS);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * DIMENSIONS);
  return all;
}

/** What is there, and the nearest of it as they are told here. */
class Model {
  readonly documents = new Map<string, readonly Float32Array[]>();

  nearest(asked: Float32Array, limit: number, only?: ReadonlySet<string>): string[] {
    const all = [...this.documents].flatMap(([document, vectors]) =>
      only?.has(document) === false
        ? []
        : vectors.map((vector, i) => ({
            id: `${document} ${i}`,
            cosine: vector.reduce((s, x, d) => s + x * asked[d]!, 0),
          })),
    );
    return all
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, limit)
      .map(({ id }) => id);
  }
}

for (const { title, missing, recall, open } of ENGINES) {
  describe.skipIf(missing !== undefined)(titled(title, missing), () => {
    let engine: Awaited<ReturnType<Engine["open"]>>;
    let model: Model;
    let generation = 0;
    beforeEach(async () => {
      engine = await open();
      model = new Model();
    });
    afterEach(() => engine.close());

    const put = async (document: string, vectors: readonly Float32Array[]): Promise<void> => {
      model.documents.set(document, vectors);
      await engine.vectors.put(document, ++generation, joined(vectors));
    };
    const found = async (asked: Float32Array, limit: number, only?: ReadonlySet<string>): Promise<string[]> => {
      if (engine.isLate) await engine.settle();
      const near = await engine.vectors.nearest(asked, limit, only);
      for (let i = 1; i < near.length; i++) expect(near[i]!.score).toBeLessThanOrEqual(near[i - 1]!.score);
      return near.map(({ document, position }) => `${document} ${position}`);
    };
    /** Of the nearest, how many are found. */
    const share = async (only?: ReadonlySet<string>): Promise<number> => {
      let hits = 0;
      for (const topic of TOPICS) {
        const [asked, expected] = [unit(topic), new Set<string>()];
        for (const id of model.nearest(asked, 10, only)) expected.add(id);
        hits += (await found(asked, 10, only)).filter((id) => expected.has(id)).length / expected.size;
      }
      return hits / TOPICS.length;
    };

    test("finds nothing where nothing is", async () => {
      expect(await found(unit(), 10)).toEqual([]);
    });

    test("finds the nearest, before and after it settled", async () => {
      for (let d = 0; d < 100; d++) await put(`d${d}`, some(20 + (d % 3)));
      expect(await share()).toBeGreaterThanOrEqual(recall);
      await engine.settle();
      expect(await share()).toBeGreaterThanOrEqual(recall);
    });

    test("looks in the documents alone that are asked for, however far they are", async () => {
      for (let d = 0; d < 20; d++) await put(`d${d}`, some(30));
      await put(
        "far",
        Array.from({ length: 5 }, () => unit(TOPICS[0]!.map((x) => -x))),
      );
      await engine.settle();
      const only = new Set(["far", "d3", "none"]);
      expect(await share(only)).toBeGreaterThanOrEqual(recall);
      expect(await found(TOPICS[0]!, 5, new Set(["far"]))).toHaveLength(5);
    });

    test("finds nothing of what was taken out or is of the generation before, whenever it settles", async () => {
      for (let step = 0; step < 60; step++) {
        const document = `d${Math.floor(random() * 6)}`;
        if (random() < 0.3) {
          model.documents.delete(document);
          await engine.vectors.remove(document);
        } else await put(document, some(1 + (step % 40)));
        if (random() < 0.5) await engine.settle();
        const asked = unit();
        // Few enough for every engine to find them all.
        expect(new Set(await found(asked, 300))).toEqual(new Set(model.nearest(asked, 300)));
      }
    });

    test("says of which generation what it finds is", async () => {
      await put("a", some(3));
      await put("a", some(4));
      await engine.settle();
      const near = await engine.vectors.nearest(unit(), 10);
      expect(near.map((one) => one.generation)).toEqual(Array(4).fill(generation));
    });
  });
}
