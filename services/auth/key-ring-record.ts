import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { type Seal, SealError } from "../shared/secrets/seal.js";
import type { AuthStore, SigningKeyRecord } from "./store.js";

/** The algorithm of every ring: Ed25519, by the name that platforms allow (RFC 8037). */
export const ALG = "EdDSA";

/** A key as it is used: the private half signs, the public one verifies. */
export interface LoadedKey {
  readonly record: SigningKeyRecord;
  readonly signing: CryptoKey;
  readonly verifying: CryptoKey;
}

/** Makes a key pair and seals its private half. */
export async function newKey(seal: Seal, createdAt: Date, signsFrom: Date): Promise<SigningKeyRecord> {
  const { privateKey } = await generateKeyPair(ALG, { crv: "Ed25519", extractable: true });
  const jwk = await exportJWK(privateKey);
  const _id = await calculateJwkThumbprint(jwk);
  const until = { signs_until: null, remove_at: null };
  return { _id, ...sealed(_id, jwk, seal), created_at: createdAt, signs_from: signsFrom, ...until };
}

/** @throws SealError where the private half does not open; the message says what to do. */
export async function loadKey(record: SigningKeyRecord, seal: Seal): Promise<LoadedKey> {
  const [signing, verifying] = await Promise.all([
    importJWK(whole(record, seal), ALG),
    importJWK(publicJwk(record), ALG),
  ]);
  return { record, signing: signing as CryptoKey, verifying: verifying as CryptoKey };
}

/** The key, sealed with the sealing key of now. @throws SealError where it does not open. */
export function resealed(record: SigningKeyRecord, seal: Seal): SigningKeyRecord {
  if (seal.isCurrent(record.sealed)) return record;
  return { ...record, ...sealed(record._id, whole(record, seal), seal) };
}

/** The public half, named member by member so that the private one cannot slip out. */
export function publicJwk({ _id, jwk: { kty, crv, x } }: SigningKeyRecord): JWK {
  return { kty, crv, x, kid: _id, alg: ALG, use: "sig" } as JWK;
}

/** Both halves. @throws SealError where the private one does not open. */
export function privateJwk(record: SigningKeyRecord, seal: Seal): JWK {
  return { ...publicJwk(record), d: whole(record, seal).d as string };
}

/** Opens every signing key of a store. @throws SealError where one does not open. */
export async function checkSealedKeys({ keyRings, signingKeys }: AuthStore, seal: () => Seal): Promise<void> {
  for await (const { keys } of keyRings.find({})) for (const key of keys) whole(key, seal());
  // Versions before 0066 kept a record for each key, and some of them an unsealed one.
  for await (const key of signingKeys.find({})) if (key.sealed !== undefined) whole(key, seal());
}

const placeOf = (id: string): string => `signing_keys/${id}`;

/** What is kept of a key: the public half, and the private one sealed for this key alone. */
function sealed(id: string, { d = "", ...jwk }: JWK, seal: Seal): Pick<SigningKeyRecord, "jwk" | "sealed"> {
  return { jwk, sealed: seal.seal(d, placeOf(id)) };
}

function whole({ _id, jwk, sealed }: Pick<SigningKeyRecord, "_id" | "jwk" | "sealed">, seal: Seal): JWK {
  try {
    return { ...jwk, d: seal.open(sealed, placeOf(_id)) };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new SealError(
      `${error.message}; if that cannot be done: npm run -s cli -- signing-keys reset (docs/signing-keys.md)`,
    );
  }
}
