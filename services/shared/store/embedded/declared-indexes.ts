import type { Database, RootDatabase } from "lmdb";
import type { CollectionSpec, IndexSpec } from "../store.js";
import { catalogueOf, documentsOf } from "./environment.js";
import { withPooledKeys } from "./read-keys.js";
import type { Records } from "./records.js";
import { type IndexRecord, SecondaryIndex } from "./secondary-index.js";

/** Documents that one transaction adds to a new index. */
const BATCH = 200;

/** A collection whose indexes are made those that are declared. */
export interface Indexed {
  readonly spec: CollectionSpec;
  readonly records: Records;
  readonly root: RootDatabase;
  /** What is known of each index on disk, by collection and name. */
  readonly catalogue: Database<IndexRecord, string>;
}

/**
 * Keeps from now on the indexes on disk that are declared as they were, and
 * drops the others, because nobody keeps them any more.
 */
export async function openIndexes({ spec, records, root, catalogue }: Indexed): Promise<void> {
  const declared = new Map(spec.indexes.map((index) => [index.name, index]));
  for (const name of recordedNames(spec.name, catalogue)) {
    const database = openIndexDatabase(root, spec.name, name);
    const recordKey = `${spec.name}/${name}`;
    const index = declared.get(name);
    const opened = index && new SecondaryIndex(index, database, catalogue, recordKey);
    if (opened?.isRecorded) {
      opened.complete = true;
      records.indexes.set(name, opened);
      continue;
    }
    records.indexes.delete(name);
    await catalogue.remove(recordKey);
    if (opened === undefined) await database.drop();
  }
}

/** Makes the databases of collections and their indexes that are not on disk, in one commit for each environment. */
export function makeDatabases(specs: readonly CollectionSpec[], rootOf: (spec: CollectionSpec) => RootDatabase): void {
  for (const root of new Set(specs.map(rootOf))) {
    root.transactionSync(() => {
      catalogueOf(root);
      for (const spec of specs.filter((one) => rootOf(one) === root)) {
        documentsOf(root, spec);
        for (const { name } of spec.indexes) openIndexDatabase(root, spec.name, name);
      }
    });
  }
}

/**
 * Makes the declared indexes that are not on disk, from the documents there
 * are, after {@link openIndexes}. Throws when those break a unique index.
 */
export async function fillIndexes(indexed: Indexed): Promise<void> {
  const missing = indexed.spec.indexes.filter(({ name }) => !indexed.records.indexes.has(name));
  await everyOne(missing.map((declared) => fillIndex(declared, indexed)));
}

async function fillIndex(declared: IndexSpec, { spec, records, root, catalogue }: Indexed): Promise<void> {
  const database = openIndexDatabase(root, spec.name, declared.name);
  const index = new SecondaryIndex(declared, database, catalogue, `${spec.name}/${declared.name}`);
  await database.clearAsync();
  records.indexes.set(declared.name, index);
  try {
    await fill(index, records);
  } catch (error) {
    records.indexes.delete(declared.name);
    throw error;
  }
  index.complete = true;
}

/** Waits for all, and then throws what the first of them threw. */
export async function everyOne(works: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find((work) => work.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function fill(index: SecondaryIndex, records: Records): Promise<void> {
  let after: Buffer | undefined;
  do {
    after = await records.transaction(() => {
      const options = after ? { start: after, exclusiveStart: true } : {};
      const batch = [...records.documents.getRange({ ...options, limit: BATCH })];
      for (const { value: document } of batch) {
        const keys = index.keysOf(document);
        index.check(document, keys);
        index.replace(document._id, [], keys);
      }
      const last = batch.at(-1);
      if (!last) index.record();
      return last && Buffer.from(last.key);
    });
  } while (after);
}

function recordedNames(collection: string, catalogue: Database<IndexRecord, string>): string[] {
  const prefix = `${collection}/`;
  return [...catalogue.getKeys({ start: prefix, end: `${collection}0` })].map((key) => key.slice(prefix.length));
}

function openIndexDatabase(root: RootDatabase, collection: string, name: string): Database<string, Buffer> {
  return withPooledKeys(root.openDB(`i:${collection}:${name}`, { encoding: "string", keyEncoding: "binary" }));
}
