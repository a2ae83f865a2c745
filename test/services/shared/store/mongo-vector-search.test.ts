import { Binary, MongoServerError } from "mongodb";
import { expect, test } from "vitest";
import { openVectorSearch, type SearchedCollection } from "../../../../services/shared/store/mongo-vector-search.js";

// What is sent to MongoDB, as its manual has it ("Run Vector Search Queries", "How to Index Fields for
// Vector Search"): no server here has mongot beside it. With MONGODB_URI the engines' contract asks a real one.

const SPEC = { name: "vectors_2", path: "vector", dimensions: 2, filters: ["space"] };

function collectionOf(indexes: () => object[]) {
  const sent: unknown[] = [];
  const answering = (answer: () => object[]) => ({ toArray: async () => answer() });
  const collection = {
    listSearchIndexes: () => answering(indexes),
    createSearchIndex: async (index: object) => void sent.push(index),
    aggregate: (stages: object[]) => {
      sent.push(stages);
      return answering(() => [{ _id: "a", score: 1 }]);
    },
  };
  return { sent, collection: collection as unknown as SearchedCollection };
}

test("an index that is missing is made, and answers once it is built", async () => {
  let indexes: object[] = [];
  const { sent, collection } = collectionOf(() => indexes);
  const search = await openVectorSearch(collection, SPEC);
  const fields = [
    { type: "vector", path: "vector", numDimensions: 2, similarity: "dotProduct" },
    { type: "filter", path: "space" },
  ];
  expect(sent).toEqual([{ name: "vectors_2", type: "vectorSearch", definition: { fields } }]);
  expect(await search!.isReady()).toBe(false);
  indexes = [{ name: "vectors_2", queryable: true }];
  expect(await search!.isReady()).toBe(true);
  await openVectorSearch(collection, SPEC);
  expect(sent).toHaveLength(1);
});

test("the nearest are asked for with the filter inside, ahead of the ranking", async () => {
  const { sent, collection } = collectionOf(() => [{ name: "vectors_2" }]);
  const search = await openVectorSearch(collection, SPEC);
  const near = await search!.nearest({ vector: Float32Array.of(1, 0), limit: 200, filter: { space: "s" } });
  expect(near).toEqual([{ _id: "a", score: 1 }]);
  const asked = { index: "vectors_2", path: "vector", queryVector: [1, 0], numCandidates: 4_000, limit: 200 };
  expect(sent).toEqual([
    [{ $vectorSearch: { ...asked, filter: { space: "s" } } }, { $project: { score: { $meta: "vectorSearchScore" } } }],
  ]);
  expect((search!.valueOf(Float32Array.of(1, 0)) as Binary).sub_type).toBe(Binary.SUBTYPE_VECTOR);
});

test("a server that has no such search is found out; one that does not answer is not taken for it", async () => {
  const none = collectionOf(() => {
    throw new MongoServerError({ message: "Unrecognized pipeline stage name", code: 40324 });
  });
  expect(await openVectorSearch(none.collection, SPEC)).toBeUndefined();
  const away = collectionOf(() => {
    throw new Error("connection closed");
  });
  await expect(openVectorSearch(away.collection, SPEC)).rejects.toThrow("connection closed");
});
