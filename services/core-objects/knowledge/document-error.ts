/** What is wrong with a document itself, in words for who added it. */
export class DocumentError extends Error {}
