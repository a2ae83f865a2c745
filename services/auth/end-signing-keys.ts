import type { AuthStore } from "./store.js";

/**
 * Takes every signing key out of a store that no service uses; the next start makes others.
 *
 * @returns how many there were.
 */
export async function endSigningKeys({ keyRings, signingKeys }: AuthStore): Promise<number> {
  let ended = (await signingKeys.deleteMany({})).deletedCount;
  for await (const { _id, keys, revoked } of keyRings.find({})) {
    const all = [...keys.map((key) => key._id), ...revoked];
    await keyRings.updateOne({ _id }, { $set: { keys: [], revoked: all }, $inc: { revision: 1 } });
    ended += keys.length;
  }
  return ended;
}
