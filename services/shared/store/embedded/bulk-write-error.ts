/** Some writes of many failed; those before, or around them when unordered, are on disk. */
export class BulkWriteError extends Error {
  override readonly name = "BulkWriteError";
  /** Of the first failure: 11000 for a duplicate key, as in MongoDB. */
  readonly code: unknown;

  constructor(
    readonly failures: readonly unknown[],
    readonly result: { readonly insertedCount: number; readonly modifiedCount: number; readonly deletedCount: number },
  ) {
    const [first] = failures;
    super(first instanceof Error ? first.message : String(first), { cause: first });
    this.code = (first as { code?: unknown }).code;
  }
}
