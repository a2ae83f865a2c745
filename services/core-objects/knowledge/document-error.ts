/** What is wrong with a document itself, in words for the person who added it. */
export class DocumentError extends Error {}

/** Why a document waits until somebody changes something else, in words for the person who added it. */
export class HeldUpError extends Error {}
