/** What is wrong with a document itself, in words for the person who added it. */
export class DocumentError extends Error {
  constructor(
    message: string,
    /** Trying again later may help. */
    readonly isPassing = false,
  ) {
    super(message);
  }
}

/** Why a document waits until somebody changes something else, in words for the person who added it. */
export class HeldUpError extends Error {}
