/** A unique index holds the value already; `code` is MongoDB's, so that one test serves both backends. */
export class DuplicateKeyError extends Error {
  override readonly name = "DuplicateKeyError";
  readonly code = 11000;

  constructor(
    index: string,
    readonly keyPattern: Readonly<Record<string, 1 | -1>>,
  ) {
    super(`E11000 duplicate key error index: ${index}`);
  }
}
