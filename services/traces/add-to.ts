import {
  type Base,
  type DocCollection,
  type Document,
  isDuplicateKey,
  type UpdateFilter,
} from "../shared/store/store.js";
import { failuresOf } from "./insert-new.js";

/** What is added to a document. */
export interface Addition {
  readonly _id: string;
  /** The document is known to be there. */
  readonly isThere: boolean;
  /** Finds no document that has it already. */
  readonly guard: Document;
  /** Of $setOnInsert, $set, $min, $max, $inc, and $push and $addToSet with $each. */
  readonly update: Readonly<Record<string, Document>>;
}

/**
 * Adds to documents, each in one atomic update, and begins those that are not there. Most that are not known to be there
 * are new: these are inserted, which costs a fraction of an update.
 */
export async function addTo<T extends Base>(
  collection: DocCollection<T>,
  additions: readonly Addition[],
): Promise<void> {
  const update = ({ _id, guard, update }: Addition, upsert: boolean) => ({
    updateOne: { filter: { _id, ...guard } as never, update: update as UpdateFilter<T>, upsert },
  });
  const insert = (addition: Addition) => ({ insertOne: { document: begunBy(addition) as never } });
  try {
    await collection.bulkWrite(
      additions.map((one) => (one.isThere ? update(one, true) : insert(one))),
      { ordered: false },
    );
  } catch (error) {
    if (!failuresOf(error).every(isDuplicateKey)) throw error;
    // These are added already, or others began the documents just now.
    await collection.bulkWrite(
      additions.map((one) => update(one, false)),
      { ordered: false },
    );
  }
}

/** The document with which an update begins. */
function begunBy({ _id, update }: Addition): Document & Base {
  const { $setOnInsert, $set, $min, $max, $inc, $addToSet = {}, $push = {} } = update;
  const lists = Object.entries({ ...$addToSet, ...$push }).map(([name, { $each }]) => [name, $each] as const);
  return { _id, ...$setOnInsert, ...$set, ...$min, ...$max, ...$inc, ...Object.fromEntries(lists) };
}
