import type { Document, Sort } from "mongodb";
import type { DocCursor, FindOptions } from "../store.js";

/** A query whose options are chosen when it runs. */
export interface Query {
  /** Yields what is found, a batch at a time. */
  batches(options: FindOptions): AsyncGenerator<Document[], void>;
  /** Everything that is found. */
  all(options: FindOptions): Promise<Document[]>;
}

/** A query that runs when its results are asked for. */
export class EmbeddedCursor<T> implements DocCursor<T> {
  #options: FindOptions;
  #results: AsyncGenerator<T, void> | undefined;

  constructor(
    private readonly query: Query,
    options: FindOptions,
  ) {
    this.#options = { ...options };
  }

  sort(spec: Sort): this {
    return this.#with({ sort: spec });
  }

  limit(n: number): this {
    return this.#with({ limit: n });
  }

  skip(n: number): this {
    return this.#with({ skip: n });
  }

  project<U extends Document = Document>(spec: Document): DocCursor<U> {
    return this.#with({ projection: spec }) as unknown as DocCursor<U>;
  }

  async toArray(): Promise<T[]> {
    if (this.#results === undefined) return this.query.all(this.#options) as Promise<T[]>;
    const rest: T[] = [];
    for await (const document of this) rest.push(document);
    return rest;
  }

  async next(): Promise<T | null> {
    this.#results ??= this.#run();
    const { done, value } = await this.#results.next();
    return done ? null : value;
  }

  async close(): Promise<void> {
    this.#results ??= this.#run();
    await this.#results.return();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (let document = await this.next(); document !== null; document = await this.next()) yield document;
  }

  #with(options: FindOptions): this {
    if (this.#results) throw new Error("a cursor cannot be changed after its first result was read");
    Object.assign(this.#options, options);
    return this;
  }

  async *#run(): AsyncGenerator<T, void> {
    for await (const batch of this.query.batches(this.#options)) yield* batch as T[];
  }
}
