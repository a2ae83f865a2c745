import type { Index } from "usearch";
import { Best } from "./best.js";
import type { ExactVectors } from "./exact-vectors.js";
import type { IndexClass } from "./index-class.js";
import type { Near, Vectors } from "./vectors.js";

/** Vectors that are added at a time: what a question waits for while an index grows. */
const AT_A_TIME = 16;
/** Vectors that are looked at for a question, in each layer of the graph; more find more of the nearest. */
const LOOKED_AT = 1_536;
const LOOKED_AT_TO_ADD = 128;
interface Placed {
  readonly document: string;
  readonly generation: number;
  readonly position: number;
}

/**
 * A graph of the nearest neighbours of each (HNSW: Malkov and Yashunin, 2018)
 * over vectors that are held. It grows a few vectors at a time; until all are in
 * it, each of them is compared.
 */
export class IndexedVectors implements Vectors {
  readonly #index: Index;
  /** What is in the index, by its keys there. */
  readonly #places = new Map<bigint, Placed>();
  readonly #keys = new Map<string, bigint[]>();
  /** Documents that are not in the index yet, at least not all of each: compared one by one. */
  readonly #waiting = new Set<string>();
  #next = 0n;

  constructor(
    private readonly held: ExactVectors,
    IndexOf: IndexClass,
  ) {
    const { dimensions } = held;
    this.#index = new IndexOf({
      dimensions,
      ...{ metric: "ip" as never, quantization: "f16" as never, connectivity: 32, multi: false },
      ...{ expansion_add: LOOKED_AT_TO_ADD, expansion_search: LOOKED_AT },
    });
    for (const document of held.documents()) this.#waiting.add(document);
  }

  put(document: string, generation: number, vectors: Float32Array): void {
    this.remove(document);
    this.held.put(document, generation, vectors);
    this.#waiting.add(document);
  }

  remove(document: string): void {
    this.held.remove(document);
    this.#waiting.delete(document);
    const keys = this.#keys.get(document) ?? [];
    this.#keys.delete(document);
    for (const key of keys) this.#places.delete(key);
    if (keys.length > 0) this.#index.remove(keys);
  }

  nearest(vector: Float32Array, limit: number, only?: ReadonlySet<string>): readonly Near[] {
    if (only !== undefined) return this.held.nearest(vector, limit, only);
    const best = new Best<Near>(limit);
    for (const one of this.held.nearest(vector, limit, this.#waiting)) best.add(one);
    if (this.#index.size() === 0) return best.all();
    const { keys } = this.#index.search(vector, limit, 1);
    for (const key of keys) {
      const place = this.#places.get(key);
      if (place === undefined || this.#waiting.has(place.document)) continue;
      // The index keeps 16 bits of each number: compared anew, they are in the order that comparing all gives.
      const score = this.held.cosine(vector, place.document, place.position);
      if (score !== undefined) best.add({ ...place, score });
    }
    return best.all();
  }

  /** Takes some more vectors into the index. @returns whether there are further ones. */
  grow(): boolean {
    const [document] = this.#waiting;
    if (document === undefined) return false;
    const { generation, vectors } = this.held.of(document)!;
    const { dimensions } = this.held;
    const keys = this.#keys.get(document) ?? [];
    this.#keys.set(document, keys);
    const from = keys.length;
    const some = vectors.subarray(from * dimensions, (from + AT_A_TIME) * dimensions);
    const added = Array.from({ length: some.length / dimensions }, () => this.#next++);
    for (const [i, key] of added.entries()) this.#places.set(key, { document, generation, position: from + i });
    keys.push(...added);
    this.#index.add(BigUint64Array.from(added), some, 1);
    if (keys.length * dimensions >= vectors.length) this.#waiting.delete(document);
    return this.#waiting.size > 0;
  }
}
