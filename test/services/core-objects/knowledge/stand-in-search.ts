import type { VectorRecord } from "../../../../services/core-objects/knowledge/records.js";
import type { DocCollection, VectorSearch } from "../../../../services/shared/store/store.js";

/** As MongoDB documents it, over any store: equality and $in before the ranking, and (1 + d) / 2 as the score. */
export function standIn(vectors: DocCollection<VectorRecord>): VectorSearch {
  return {
    valueOf: (vector) => [...vector],
    isReady: async () => true,
    async nearest({ vector, limit, filter }) {
      const found = await vectors.find(filter as never).toArray();
      return found
        .map(({ _id, vector: one }) => {
          const dot = (one as number[]).reduce((sum, x, d) => sum + x * vector[d]!, 0);
          return { _id, score: (1 + dot) / 2 };
        })
        .sort((a, b) => b.score - a.score)
        .slice(0, limit);
    },
  };
}
