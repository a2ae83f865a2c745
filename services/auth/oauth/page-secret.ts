import { createHmac, randomBytes } from "node:crypto";
import type { Seal } from "../../shared/secrets/seal.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { AuthStore } from "../store.js";

const ID = "page_secret";
const PLACE = `auth_state/${ID}`;

/** A secret of the installation from which the keys of cookies and forms are made: every auth process has the same. */
export async function openPageSecret({ state }: Pick<AuthStore, "state">, seal: Seal): Promise<Buffer> {
  const made = { _id: ID, n: 1, sealed: seal.seal(randomBytes(32).toString("base64url"), PLACE) };
  try {
    await state.insertOne(made);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const kept = (await state.findOne({ _id: ID }))?.sealed ?? made.sealed;
  const secret = seal.open(kept, PLACE);
  if (!seal.isCurrent(kept)) await state.updateOne({ _id: ID }, { $set: { sealed: seal.seal(secret, PLACE) } });
  return Buffer.from(secret, "base64url");
}

/** Forgets the secret: the next start makes another, and forms and cookies of before are void. */
export async function forgetPageSecret({ state }: Pick<AuthStore, "state">): Promise<void> {
  await state.deleteOne({ _id: ID });
}

/** A key for one purpose. */
export function keyFor(secret: Buffer, purpose: string): Buffer {
  return createHmac("sha256", secret).update(purpose).digest();
}
