import type { Database, RootDatabase } from "lmdb";
import type { CollectionSpec, IndexSpec } from "../store.js";
import type { Records } from "./records.js";
import { type IndexRecord, SecondaryIndex } from "./secondary-index.js";

/** Documents that one transaction adds to a new index. */
const BATCH = 200;

/**
 * Makes the indexes on disk those that are declared: the ones that are gone
 * are dropped, because nobody keeps them any more, and the new ones are filled
 * from the documents there are. Throws when those break a unique index.
 */
export async function ensureIndexes(
  collection: CollectionSpec,
  records: Records,
  root: RootDatabase,
  catalogue: Database<IndexRecord, string>,
): Promise<void> {
  const declared = new Set(collection.indexes.map(({ name }) => name));
  for (const name of recordedNames(collection.name, catalogue)) {
    if (declared.has(name)) continue;
    records.indexes.delete(name);
    await catalogue.remove(`${collection.name}/${name}`);
    await openIndexDatabase(root, collection.name, name).drop();
  }
  for (const index of collection.indexes) await ensureIndex(collection, index, records, root, catalogue);
}

async function ensureIndex(
  collection: CollectionSpec,
  spec: IndexSpec,
  records: Records,
  root: RootDatabase,
  catalogue: Database<IndexRecord, string>,
): Promise<void> {
  const recordKey = `${collection.name}/${spec.name}`;
  const database = openIndexDatabase(root, collection.name, spec.name);
  let index = new SecondaryIndex(spec, database, catalogue, recordKey);
  if (!index.isRecorded) {
    records.indexes.delete(spec.name);
    await catalogue.remove(recordKey);
    await database.clearAsync();
    index = new SecondaryIndex(spec, database, catalogue, recordKey);
    records.indexes.set(spec.name, index);
    try {
      await fill(index, records);
    } catch (error) {
      records.indexes.delete(spec.name);
      throw error;
    }
  }
  index.complete = true;
  records.indexes.set(spec.name, index);
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
        index.replace(document._id, new Map(), keys);
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
  return root.openDB(`i:${collection}:${name}`, { encoding: "string", keyEncoding: "binary" });
}
