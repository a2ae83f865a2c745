import { join } from "node:path";
import type { RootDatabase } from "lmdb";
import { silentLog } from "../../process/log.js";
import type { Base, CollectionSpec, DocCollection, OpenedBeside } from "../store.js";
import { EmbeddedCollection } from "./collection.js";
import { inOneCommit } from "./commit.js";
import { openIndexes } from "./declared-indexes.js";
import { catalogueOf, closeEnvironment, documentsOf, shareEnvironment } from "./environment.js";
import { Records } from "./records.js";

/**
 * Opens collections of a store that this process has open, in a thread of it. LMDB lets one
 * writer write at a time, whichever thread it is of, and readers read beside it.
 *
 * @param dir the data directory, which the process holds for as long as this is open.
 * @param specs collections that are there, with their indexes: nothing is made or migrated.
 */
export async function openEmbeddedBeside(dir: string, specs: readonly CollectionSpec[]): Promise<OpenedBeside> {
  const environments = new Map<string, RootDatabase>();
  const collections = new Map<string, EmbeddedCollection>();
  for (const spec of specs) {
    const name = spec.environment ?? "main";
    const root = environments.get(name) ?? shareEnvironment(join(dir, name));
    environments.set(name, root);
    const records = new Records(root, documentsOf(root, spec), spec.name);
    await openIndexes({ spec, records, root, catalogue: catalogueOf(root) });
    records.share();
    collections.set(spec.name, new EmbeddedCollection(spec, records, silentLog));
  }
  return {
    collection<T extends Base>(name: string): DocCollection<T> {
      const collection = collections.get(name);
      if (collection === undefined) throw new Error(`collection ${name} was not opened here`);
      return collection as unknown as DocCollection<T>;
    },
    inOrder: inOneCommit,
    async close() {
      for (const root of environments.values()) await closeEnvironment(root);
    },
  };
}
