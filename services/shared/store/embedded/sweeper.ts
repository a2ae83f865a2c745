import type { Document } from "mongodb";
import { between } from "./keys.js";
import { valuesAt } from "./paths.js";
import type { Records } from "./records.js";
import type { SecondaryIndex } from "./secondary-index.js";

/** Expired documents that one transaction deletes at most. */
const BATCH = 500;

/**
 * Deletes the documents whose time is over by a TTL index. As in MongoDB an
 * expired document stays visible until then, so that readers check expiry too.
 */
export async function sweep(records: Records, now = Date.now()): Promise<number> {
  let swept = 0;
  for (const index of records.indexes.values()) {
    if (index.spec.expireAfterSeconds === undefined || !index.complete) continue;
    const before = new Date(now - index.spec.expireAfterSeconds * 1_000);
    let batch: number;
    do swept += batch = await records.transaction(() => sweepBatch(records, index, before));
    while (batch === BATCH);
  }
  return swept;
}

function sweepBatch(records: Records, index: SecondaryIndex, before: Date): number {
  const field = index.fields[0]!;
  const { start, end } = between(Buffer.alloc(0), { lower: new Date(Number.NaN), upper: before }, field.descending);
  const ids = [...index.database.getRange({ start, end, limit: BATCH })].map(({ value }) => value);
  for (const id of ids) {
    const document = records.byId(id);
    if (document && isOver(document, field.segments, before)) records.write(document, undefined);
  }
  return ids.length;
}

function isOver(document: Document, segments: readonly string[], before: Date): boolean {
  return valuesAt(document, segments).values.some((value) => value instanceof Date && value <= before);
}
