/**
 * What follows a failure after which it is not known what the platform did: of
 * a write, that its outcome is open and how to find out; of a read, that it may
 * be repeated.
 */
export function doubtOf(read: boolean): string {
  return read ? "; try again" : UNKNOWN;
}

/** The outcome of a write is open. */
export const UNKNOWN =
  "; whether the change was made is not known, so read before trying again and repeat it only where it is missing";
