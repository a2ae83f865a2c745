import { timingSafeEqual } from "node:crypto";

/** Whether a text that somebody sent is the one that is wanted, in a time that does not depend on where they differ. */
export function isSameText(given: string, wanted: string): boolean {
  // As many characters may be more bytes.
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
