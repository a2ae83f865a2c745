import type { Document } from "mongodb";
import type { EmbeddedCollection } from "./collection.js";
import { between } from "./keys.js";
import { valuesAt } from "./paths.js";
import type { SecondaryIndex } from "./secondary-index.js";

/** Expired documents that one transaction deletes at most. */
const BATCH = 500;

/**
 * Deletes the documents whose time is over by a TTL index. As in MongoDB an
 * expired document stays visible until then, so that readers check expiry too.
 */
export async function sweep(collection: EmbeddedCollection, now = Date.now()): Promise<number> {
  let swept = 0;
  for (const index of collection.indexes.values()) {
    if (index.spec.expireAfterSeconds === undefined || !index.complete) continue;
    const before = new Date(now - index.spec.expireAfterSeconds * 1_000);
    let batch: number;
    do swept += batch = await collection.transaction(() => sweepBatch(collection, index, before));
    while (batch === BATCH);
  }
  return swept;
}

function sweepBatch(collection: EmbeddedCollection, index: SecondaryIndex, before: Date): number {
  const field = index.fields[0]!;
  const { start, end } = between(Buffer.alloc(0), new Date(Number.NaN), before, field.descending);
  const ids = [...index.database.getRange({ start, end, limit: BATCH })].map(({ value }) => value);
  for (const id of ids) {
    const document = collection.documentById(id);
    if (document && isOver(document, field.segments, before)) collection.remove(document);
  }
  return ids.length;
}

function isOver(document: Document, segments: readonly string[], before: Date): boolean {
  return valuesAt(document, segments).values.some((value) => value instanceof Date && value <= before);
}
