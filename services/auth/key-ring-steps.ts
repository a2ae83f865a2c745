import type { SigningKeyRecord } from "./store.js";

// What a key ring is at a time, and what the steps of its life make of it: without a store, so that a step can be
// tried again on what another process made of the ring meanwhile.
//
// Keys are in the order of their signatures, the newest first. The newest has no end; each other one signs until the
// next begins, and is published for the grace after that.

/** Where a key is in its life. */
export type KeyState = "published" | "signing" | "retiring";

/** The keys of a ring, the newest first. */
export type Keys = readonly SigningKeyRecord[];

/**
 * The one key that signs.
 *
 * Where the clock of this process is behind that of the one which made a key sign at once, none has begun: then it is
 * the newest.
 */
export function signerOf(keys: Keys, now: number): SigningKeyRecord | undefined {
  return keys.find((key) => hasBegun(key, now) && !hasEnded(key, now)) ?? keys[0];
}

/** The key that is published and does not sign yet. */
export function pendingOf(keys: Keys, now: number): SigningKeyRecord | undefined {
  const [newest] = keys;
  return newest !== undefined && newest !== signerOf(keys, now) && !hasBegun(newest, now) ? newest : undefined;
}

/** Those that verify. */
export function publishedOf(keys: Keys, now: number): Keys {
  return keys.filter(({ remove_at }) => remove_at === null || remove_at.getTime() > now);
}

/** Where a key of a ring is in its life. */
export function stateOf(keys: Keys, key: SigningKeyRecord, now: number): KeyState {
  if (key === signerOf(keys, now)) return "signing";
  return key === pendingOf(keys, now) ? "published" : "retiring";
}

/** Lets a key follow the newest. */
export function followed(keys: Keys, fresh: SigningKeyRecord, graceMs: number): Keys {
  const removeAt = new Date(fresh.signs_from.getTime() + graceMs);
  const [newest, ...older] = keys;
  if (newest === undefined) return [fresh];
  return [fresh, { ...newest, signs_until: fresh.signs_from, remove_at: removeAt }, ...older];
}

/**
 * Mends a ring that a key was taken from: the newest key has no end, and one key signs. If the one that signed is gone,
 * the published one signs at once, or else a fresh one; if the one that was to sign is gone, the other has no end.
 *
 * @param fresh a key that signs from now on.
 */
export async function mended(keys: Keys, now: number, fresh: () => Promise<SigningKeyRecord>): Promise<Keys> {
  const [newest, ...older] = keys;
  if (newest === undefined || hasEnded(newest, now)) return [await fresh(), ...keys];
  if (newest.signs_until !== null) return [{ ...newest, signs_until: null, remove_at: null }, ...older];
  const signs = keys.some((key) => hasBegun(key, now) && !hasEnded(key, now));
  return signs ? keys : [{ ...newest, signs_from: new Date(now) }, ...older];
}

const hasBegun = ({ signs_from }: SigningKeyRecord, now: number): boolean => signs_from.getTime() <= now;
const hasEnded = ({ signs_until }: SigningKeyRecord, now: number): boolean =>
  signs_until !== null && signs_until.getTime() <= now;
