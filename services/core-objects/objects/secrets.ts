import type { Seal } from "../../shared/secrets/seal.js";
import type { ObjectRecord } from "../record.js";
import { snakeOf } from "./names.js";

// What is secret of an object is sealed for the place where it is kept: moved to
// another field or object it does not open. `sealed_with` of its record names the
// key that all of it was sealed with, so that what an older key sealed is found.

/** Seals again what is sealed of an object: the fields that hold it, each text by the name of its field. */
export type Reseal<R extends ObjectRecord> = (
  record: R,
  again: (sealed: string, field: string) => string,
) => Partial<R>;

/** Shorter secrets would be half shown by the characters that are. */
const SHOWN_OF = 12;

/** The characters of a secret that tell it from others; none of a short one. */
export function endOf(secret: string): string {
  return secret.length < SHOWN_OF ? "" : secret.slice(-4);
}

/** Where a field of an object is kept. */
export function placeOf({ plural }: { readonly plural: string }, id: string, field: string): string {
  return `${snakeOf(plural)}/${id}/${field}`;
}

/**
 * The key that an object's secrets were sealed with, as a field of its record:
 * "" where it has none, the older one where several did. Nothing for a kind
 * without secrets.
 */
export function sealedWith(
  { reseal }: { readonly reseal?: Reseal<ObjectRecord> | undefined },
  seal: Seal,
  record: ObjectRecord,
  before = "",
): { sealed_with?: string } {
  if (reseal === undefined) return {};
  let [some, others] = [false, false];
  reseal(record, (sealed) => {
    some = true;
    others ||= !seal.isCurrent(sealed);
    return sealed;
  });
  return { sealed_with: others ? before : some ? seal.key : "" };
}
