import type { DocCollection, VectorSearch } from "../../shared/store/store.js";
import type { Near, Vectors } from "./apart/vectors.js";
import type { VectorRecord } from "./records.js";

/** Vectors that are written in one request: 1 MiB of 512 dimensions. */
const AT_ONCE = 500;

/** Where the vectors are, and what searches them. */
export interface ServerVectorsOptions {
  readonly vectors: DocCollection<VectorRecord>;
  readonly search: VectorSearch;
  readonly dimensions: number;
  /** The knowledge base and the embedder: nothing else is searched. */
  readonly space: string;
}

/** Vectors that the database itself searches: they are in no process's memory, and built into an index once. */
export class ServerVectors implements Vectors {
  constructor(private readonly options: ServerVectorsOptions) {}

  async put(document: string, generation: number, all: Float32Array): Promise<void> {
    const { vectors, search, dimensions, space } = this.options;
    const count = all.length / dimensions;
    if ((await vectors.countDocuments({ document, generation })) < count) {
      for (let from = 0; from < count; from += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => from + i);
        await vectors.bulkWrite(
          some.map((position) => {
            const one = all.slice(position * dimensions, (position + 1) * dimensions);
            const $set = { space, document, generation, vector: search.valueOf(one) };
            return {
              updateOne: { filter: { _id: idOf({ document, generation, position }) }, update: { $set }, upsert: true },
            };
          }),
        );
      }
    }
    await vectors.deleteMany({ document, generation: { $lt: generation } });
  }

  async remove(document: string): Promise<void> {
    await this.options.vectors.deleteMany({ document });
  }

  async nearest(vector: Float32Array, limit: number, only?: ReadonlySet<string>): Promise<readonly Near[]> {
    const { search, space } = this.options;
    const filter = { space, ...(only && { document: { $in: [...only] } }) };
    const found = await search.nearest({ vector, limit, filter });
    // A dot product d of unit vectors is told as (1 + d) / 2.
    return found.map(({ _id, score }) => ({ ...placeOf(_id), score: 2 * score - 1 }));
  }
}

function idOf({ document, generation, position }: Omit<Near, "score">): string {
  return `${document}.${generation}.${position}`;
}

function placeOf(id: string): Omit<Near, "score"> {
  const [position, generation, ...document] = id.split(".").reverse();
  return { document: document.reverse().join("."), generation: Number(generation), position: Number(position) };
}
