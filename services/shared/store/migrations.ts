import { checkFormat, type SchemaVersion } from "./format.js";
import type { CollectionSpec, Store } from "./store.js";

/** How many migrations each collection has been through, by its name. */
export const SCHEMA_VERSIONS: CollectionSpec = { name: "schema_versions", indexes: [] };

/**
 * Checks the store's format, and runs the migrations of a collection that have not run yet, in order. Safe to
 * be interrupted and to run in several processes at once: a step finds only
 * what it has not reached, and the version only grows.
 */
export async function migrate(store: Pick<Store, "collection">, spec: CollectionSpec): Promise<void> {
  const versions = store.collection<SchemaVersion>(SCHEMA_VERSIONS.name);
  const documents = store.collection(spec.name);
  const migrations = spec.migrations ?? [];
  await checkFormat(versions, documents);
  const reached = (await versions.findOne({ _id: spec.name }))?.version ?? 0;
  if (reached > migrations.length)
    throw new Error(
      `collection ${spec.name} has schema version ${reached}, and this version of the product knows only versions up to ${migrations.length}: ` +
        "run the version that wrote it, or a newer one",
    );
  for (const [i, { filter, update }] of migrations.entries()) {
    if (i < reached) continue;
    await documents.updateMany(filter, update);
    await versions.updateOne({ _id: spec.name }, { $max: { version: i + 1 } }, { upsert: true });
  }
}
