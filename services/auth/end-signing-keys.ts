import { forgetPageSecret } from "./oauth/page-secret.js";
import type { AuthStore } from "./store.js";

/**
 * Takes every signing key out of a store that no service uses, and the secret that signs cookies and forms; the next
 * start makes others.
 *
 * @returns how many there were.
 */
export async function endSigningKeys(store: AuthStore): Promise<number> {
  const { keyRings, signingKeys } = store;
  await forgetPageSecret(store);
  let ended = (await signingKeys.deleteMany({})).deletedCount;
  for await (const { _id, keys, revoked } of keyRings.find({})) {
    const all = [...keys.map((key) => key._id), ...revoked];
    await keyRings.updateOne({ _id }, { $set: { keys: [], revoked: all }, $inc: { revision: 1 } });
    ended += keys.length;
  }
  return ended;
}
