import type { Base, DocCollection } from "./store.js";

/** What a store is written in. It is raised when this version cannot read what the one before wrote. */
const FORMAT = 1;
/** The first version of the product that wrote FORMAT. */
const SINCE = "0.2.0";
const FORMAT_ID = "format";

/** A record of how far the product's versions have brought the store. */
export interface SchemaVersion extends Base {
  readonly version: number;
}

/**
 * Checks that a store is of this version's format before a collection is used, and
 * marks a new store. Safe in several processes at once: the mark is written before
 * any document.
 *
 * @param documents the collection: if it holds something in a store without a mark, an older version wrote it.
 * @throws Error in one line if another version wrote the store.
 */
export async function checkFormat(
  versions: DocCollection<SchemaVersion>,
  documents: Pick<DocCollection<Base>, "countDocuments">,
): Promise<void> {
  const readFormat = async () => (await versions.findOne({ _id: FORMAT_ID }))?.version;
  let format = await readFormat();
  if (format === undefined) {
    const isUsed =
      (await versions.countDocuments({}, { limit: 1 })) > 0 || (await documents.countDocuments({}, { limit: 1 })) > 0;
    // Another process may have marked it meanwhile, and used it.
    format = isUsed ? ((await readFormat()) ?? 0) : FORMAT;
    if (!isUsed) await versions.updateOne({ _id: FORMAT_ID }, { $max: { version: FORMAT } }, { upsert: true });
  }
  if (format < FORMAT)
    throw new Error(
      `a version before ${SINCE} wrote this store, and this version cannot read it: start with an empty store (DATA_DIR or MONGODB_URI), or run the version that wrote it`,
    );
  if (format > FORMAT)
    throw new Error(
      `the store has format ${format}, and this version of the product knows only formats up to ${FORMAT}: run the version that wrote it, or a newer one`,
    );
}
