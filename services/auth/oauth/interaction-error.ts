/** A request that is not the browser's next step. The message is for the person. */
export class InteractionError extends Error {}
