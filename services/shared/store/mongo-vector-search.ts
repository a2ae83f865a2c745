import { Binary, type Collection, MongoServerError } from "mongodb";
import type { Base, VectorIndexSpec, VectorSearch } from "./store.js";

/** Vectors that the server looks at for each that is asked for (MongoDB recommends twenty), and at most. */
const LOOKED_AT_FOR_ONE = 20;
const LOOKED_AT = 10_000;

/** What is used of the driver's collection. */
export type SearchedCollection = Pick<Collection<Base>, "aggregate" | "createSearchIndex" | "listSearchIndexes">;

/**
 * MongoDB's own search for vectors: `$vectorSearch`, which Atlas has, and servers
 * with mongot beside them.
 *
 * @returns undefined where the server has none.
 */
export async function openVectorSearch(
  collection: SearchedCollection,
  { name, path, dimensions, filters }: VectorIndexSpec,
): Promise<VectorSearch | undefined> {
  const indexes = (): Promise<{ name: string; queryable?: boolean }[]> => collection.listSearchIndexes(name).toArray();
  try {
    if ((await indexes()).length === 0) {
      const vector = { type: "vector", path, numDimensions: dimensions, similarity: "dotProduct" };
      const fields = [vector, ...filters.map((path) => ({ type: "filter", path }))];
      await collection.createSearchIndex({ name, type: "vectorSearch", definition: { fields } });
    }
  } catch (error) {
    // It does not know the command or the stage, or has no mongot to ask; another process may have been faster.
    if (!(error instanceof MongoServerError)) throw error;
    if (error.codeName !== "IndexAlreadyExists") return undefined;
  }
  return {
    valueOf: (vector) => Binary.fromFloat32Array(vector),
    async isReady() {
      return (await indexes()).some(({ queryable }) => queryable === true);
    },
    async nearest({ vector, limit, filter }) {
      const numCandidates = Math.min(LOOKED_AT, limit * LOOKED_AT_FOR_ONE);
      const asked = { index: name, path, queryVector: [...vector], numCandidates, limit, filter };
      const score = { $meta: "vectorSearchScore" };
      return collection
        .aggregate<{ _id: string; score: number }>([{ $vectorSearch: asked }, { $project: { score } }])
        .toArray();
    },
  };
}
