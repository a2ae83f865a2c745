/** A command line that cannot be carried out as it stands; its message says what to change. */
export class UsageError extends Error {}
