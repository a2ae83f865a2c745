import { setImmediate as nextTurn } from "node:timers/promises";
import type { Document, Sort } from "mongodb";
import type { Log } from "../../process/log.js";
import { refuseUndefined } from "../filter.js";
import type { Base, CollectionSpec, FindOptions, Look, Looked } from "../store.js";
import { constraintsOf, withoutPaths } from "./constraints.js";
import type { DocumentReaders } from "./document-readers.js";
import { readersOf } from "./environment.js";
import { EVERY_FIELD, type Fields } from "./fields.js";
import { KeptResults } from "./kept-results.js";
import { race } from "./look.js";
import { matcherOf } from "./matcher.js";
import { sortDocuments, sortFieldsOf } from "./order.js";
import { type Plan, planOf } from "./plan.js";
import { fieldsOf, isOnlyId, projectorOf } from "./projection.js";
import { readingOf } from "./reading.js";
import type { Records } from "./records.js";
import { Scan, type Walkable } from "./scan.js";
import { searchFor } from "./search.js";
import type { Stored } from "./stored.js";
import { idKey } from "./values.js";

/** Finds documents: plans, scans, and sorts what no index has sorted. */
export class Queries {
  readonly #primary: Walkable;
  readonly #readers: DocumentReaders;
  readonly #kept: KeptResults;
  readonly #reported = new Set<string>();

  constructor(
    private readonly records: Records,
    private readonly spec: CollectionSpec,
    private readonly log: Log,
  ) {
    this.#primary = primaryIndex(records);
    this.#readers = readersOf(records.documents);
    this.#kept = new KeptResults(records);
  }

  /** How many match, up to the limit. */
  async count(filter: Document, limit: number, hint?: string): Promise<number> {
    const plan = this.#plan(filter, { hint });
    const scan = this.#scan(plan, filter, { names: ["_id"], areLeftOut: false });
    let count = 0;
    while (!scan.done && count < limit) {
      count += plan.exact ? scan.countSlice(limit - count) : scan.slice(limit - count).length;
      if (!scan.done && count < limit) await nextTurn();
    }
    this.#reportScan(plan, scan, filter);
    return count;
  }

  /** Inside a transaction: the first documents that match, found without giving way. */
  matching(filter: Document, limit: number, sort?: Sort): Stored[] {
    const direct = this.records.direct(filter);
    if (direct !== undefined) return direct ? [direct] : [];
    const plan = this.#plan(filter, { sort });
    const scan = this.#scan(plan, filter);
    const found = scan.all(plan.sorted ? limit : Number.POSITIVE_INFINITY) as Stored[];
    this.#reportScan(plan, scan, filter);
    return plan.sorted ? found : (sortDocuments(found, sortFieldsOf(sort)).slice(0, limit) as Stored[]);
  }

  /** What matches, a batch at a time, giving way between batches. */
  async *batches(filter: Document, options: FindOptions): AsyncGenerator<Document[], void> {
    refuseUndefined(filter);
    const plan = this.#plan(filter, options);
    const { projection, skip = 0, sort } = options;
    // What is sorted here is sorted by fields that the projection may leave out.
    const fields = plan.sorted && plan.index !== this.#primary ? fieldsOf(projection) : undefined;
    const isInIndex = fields !== undefined && isOnlyId(projection) && plan.exact;
    const scan = isInIndex ? new Scan(plan, (_id) => ({ _id })) : this.#scan(plan, filter, fields);
    const limit = options.limit ? Math.abs(options.limit) : Number.POSITIVE_INFINITY;
    const batches = plan.sorted ? inOrder(scan, skip, limit) : sorted(scan, sort, skip, limit);
    const projector = fields === undefined ? projectorOf(projection) : undefined;
    for await (const batch of batches) yield projector === undefined ? batch : batch.map(projector);
    this.#reportScan(plan, scan, filter);
  }

  /** Everything that matches. */
  async all(filter: Document, options: FindOptions): Promise<Document[]> {
    const key = this.#kept.keyOf(filter, options);
    const kept = key === undefined ? undefined : this.#kept.get(key);
    if (kept !== undefined) return [...kept];
    const { version } = this.#kept;
    const found: Document[] = [];
    for await (const batch of this.batches(filter, options)) for (const document of batch) found.push(document);
    if (key === undefined) return found;
    this.#kept.keep(key, found, version);
    return [...found];
  }

  /** What {@link DocCollection.look} promises. */
  async look(asked: Look<Base>): Promise<Looked<Document>> {
    const { ways, wanted, order, direction, limit, most, projection } = asked;
    const range = Object.keys(asked.range).length === 0 ? {} : { [order]: asked.range };
    for (const filter of [...ways.map(({ by }) => by), wanted, range]) refuseUndefined(filter);
    const sort = { [order]: direction };
    const planned = ways.map(({ index, by }) => ({ by, plan: this.#plan({ ...by, ...range }, { sort, hint: index }) }));
    const fields = fieldsOf(projection);
    const { scans, bytesRead } = searchFor(this.records, {
      ways: planned,
      range,
      wanted,
      fields: fields ?? EVERY_FIELD,
    });
    // More values than are merged: what matches is sorted.
    if (scans.length === 0) {
      const filter = { $and: [...ways.map(({ by }) => by), wanted, range] };
      const found: Document[] = [];
      for await (const batch of this.batches(filter, { sort, limit, ...(projection && { projection }) }))
        found.push(...batch);
      return { found, end: undefined };
    }
    const readOrder = (bytes: Buffer): Document =>
      this.#readers.of({ names: [order], areLeftOut: false }).read(bytes) as Document;
    const orderOf = (id: unknown) => this.records.read(id as string, readOrder)?.[order] as string | undefined;
    const { found, end } = await race(scans, { limit, most, descending: direction === -1, orderOf, bytesRead });
    const projector = fields === undefined ? projectorOf(projection) : undefined;
    return { found: projector === undefined ? found : found.map(projector), end };
  }

  #plan(
    filter: Document,
    { sort, hint }: { readonly sort?: Sort | undefined; readonly hint?: string | undefined },
  ): Plan<Walkable> {
    const hinted = hint === undefined ? undefined : this.records.indexes.get(hint);
    const indexes = hinted?.complete ? [hinted] : [...this.records.indexes.values()];
    for (const index of indexes) index.reread();
    return planOf<Walkable>(constraintsOf(filter), sortFieldsOf(sort), this.#primary, indexes, hint);
  }

  #scan(plan: Plan<Walkable>, filter: Document, fields: Fields = EVERY_FIELD): Scan {
    const rest = plan.exact ? {} : withoutPaths(filter, plan.covered);
    if (plan.index === this.#primary) {
      const matches = matcherOf(rest);
      return new Scan(plan, (stored) => {
        const document = this.records.latest(stored as Stored);
        return matches(document) ? document : undefined;
      });
    }
    const reading = readingOf(this.#readers, rest, fields);
    return new Scan(plan, (id) => this.records.read(id as string, reading));
  }

  #reportScan(plan: Plan<Walkable>, scan: Scan, filter: Document): void {
    if (!plan.full || scan.examined <= (this.spec.scanBound ?? 0)) return;
    const paths = Object.keys(filter).sort().join(",");
    if (paths === "" || this.#reported.has(paths)) return;
    this.#reported.add(paths);
    this.log.warn({ collection: this.spec.name, paths, examined: scan.examined }, "a query is not covered by an index");
  }
}

async function* inOrder(scan: Scan, skip: number, limit: number): AsyncGenerator<Document[], void> {
  let [toSkip, left] = [skip, limit];
  while (scan.isExact && toSkip > 0 && !scan.done) {
    toSkip -= scan.countSlice(toSkip);
    if (toSkip > 0 && !scan.done) await nextTurn();
  }
  while (!scan.done && left > 0) {
    const batch = scan.slice(toSkip + left);
    const kept = batch.slice(toSkip);
    toSkip -= batch.length - kept.length;
    left -= kept.length;
    if (kept.length > 0) yield kept;
    if (!scan.done && left > 0) await nextTurn();
  }
}

/** Sorts in memory, keeping no more than what may still be among the first that are wanted. */
async function* sorted(
  scan: Scan,
  sort: Sort | undefined,
  skip: number,
  limit: number,
): AsyncGenerator<Document[], void> {
  const fields = sortFieldsOf(sort);
  const keep = skip + limit;
  let found: Document[] = [];
  while (!scan.done) {
    found.push(...scan.slice());
    if (found.length > keep * 2 + 1_000) found = sortDocuments(found, fields).slice(0, keep);
    if (!scan.done) await nextTurn();
  }
  yield sortDocuments(found, fields).slice(skip, keep);
}

/** The documents seen as an index over _id. */
function primaryIndex({ documents }: Records): Walkable {
  return {
    spec: { name: "_id_", key: { _id: 1 } },
    database: documents,
    fields: [{ path: "_id", segments: ["_id"], descending: false }],
    unique: true,
    sparse: false,
    complete: true,
    isRegular: () => true,
    isMultiple: false,
    part: (_field, value) => idKey(value as string),
  };
}
