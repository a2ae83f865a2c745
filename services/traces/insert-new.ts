import { type Base, type DocCollection, isDuplicateKey } from "../shared/store/store.js";

/**
 * Inserts the documents whose ids are not there yet; those that are there stay
 * as they are.
 */
export async function insertNew<T extends Base>(collection: DocCollection<T>, documents: readonly T[]): Promise<void> {
  const operations = documents.map((document) => ({ insertOne: { document } }));
  try {
    await collection.bulkWrite(operations as never, { ordered: false });
  } catch (error) {
    if (!failuresOf(error).every(isDuplicateKey)) throw error;
  }
}

/** What went wrong with each operation of many, as either backend says it. */
export function failuresOf(error: unknown): readonly unknown[] {
  const { writeErrors, failures } = error as { writeErrors?: unknown; failures?: readonly unknown[] };
  return [writeErrors ?? failures ?? error].flat();
}
