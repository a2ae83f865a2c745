import {
  type CryptoKey,
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from "jose";
import type { Seal } from "../shared/secrets/seal.js";
import type { AuthStore, RingName, SigningKeyRecord } from "./store.js";

/**
 * Signing keys of one purpose, Ed25519, kept in the store.
 *
 * A key belongs to one ring for ever: an access token signed with a key that
 * platforms trust would be a login there.
 */
export interface KeyRing {
  /** The key that signs now. */
  signer(): { readonly kid: string; readonly key: CryptoKey };
  /** The public keys as JWK set: those that signed lately, the one that signs, and the one that will. */
  jwks(): { readonly keys: JWK[] };
  /** The published keys with their private halves, the one that signs first: for a library that signs itself. */
  signingJwks(): readonly JWK[];
  /** Finds the public key of a signature among those published. */
  verifier(): ReturnType<typeof createLocalJWKSet>;
  /** Publishes a key that signs after the lead, and takes those before it down after lead and grace. */
  rotate(): Promise<void>;
  /** Reads the keys again: another process may have rotated. */
  load(): Promise<void>;
  /** Rotates where the newest key is old, and forgets what is no longer published. */
  tend(): Promise<void>;
}

/** When keys of a ring come and go. */
export interface KeyRingOptions {
  /** How long a key is published before it signs: longer than verifiers keep the set, in milliseconds. */
  readonly leadMs: number;
  /** How long a key is published after its last signature: longer than what it signed lives. */
  readonly graceMs: number;
  /** The age at which a key is followed by another. */
  readonly rotateMs: number;
  /** Seals the private halves at rest. */
  readonly seal: Seal;
  readonly now?: () => number;
}

const ALG = "EdDSA";

interface LoadedKey {
  readonly record: SigningKeyRecord;
  readonly key: CryptoKey;
}

/** Loads a ring and makes its first key where there is none. */
export async function openKeyRing(
  { signingKeys }: AuthStore,
  ring: RingName,
  { leadMs, graceMs, rotateMs, seal, now = Date.now }: KeyRingOptions,
): Promise<KeyRing> {
  let keys: LoadedKey[] = [];
  let verifier: ReturnType<typeof createLocalJWKSet>;

  async function load(): Promise<void> {
    const records = await signingKeys.find({ ring }).toArray();
    records.sort((a, b) => b.signs_from.getTime() - a.signs_from.getTime());
    keys = await Promise.all(
      records.map(async (record) => ({ record, key: (await importJWK(whole(record, seal), ALG)) as CryptoKey })),
    );
    verifier = createLocalJWKSet(jwks());
  }

  function jwks(): { readonly keys: JWK[] } {
    return { keys: keys.filter(({ record }) => isPublished(record)).map(({ record }) => publicJwk(record)) };
  }

  function isPublished({ remove_at }: SigningKeyRecord): boolean {
    return remove_at === null || remove_at.getTime() > now();
  }

  async function add(signsFrom: number): Promise<void> {
    const { privateKey } = await generateKeyPair(ALG, { crv: "Ed25519", extractable: true });
    const jwk = await exportJWK(privateKey);
    const _id = await calculateJwkThumbprint(jwk);
    await signingKeys.insertOne({
      _id,
      ring,
      ...sealed(_id, jwk, seal),
      created_at: new Date(now()),
      signs_from: new Date(signsFrom),
      remove_at: null,
    });
  }

  /** Seals with the sealing key of now what was sealed with an older one. */
  async function sealAll(): Promise<void> {
    for (const record of await signingKeys.find({ ring }).toArray()) {
      if (seal.isCurrent(record.sealed)) continue;
      await signingKeys.updateOne({ _id: record._id }, { $set: sealed(record._id, whole(record, seal), seal) });
    }
  }

  async function rotate(): Promise<void> {
    const from = now() + leadMs;
    await add(from);
    const removeAt = new Date(from + graceMs);
    await signingKeys.updateMany(
      { ring, remove_at: null, signs_from: { $lt: new Date(from) } },
      { $set: { remove_at: removeAt } },
    );
    await load();
  }

  async function tend(): Promise<void> {
    await load();
    const newest = keys[0];
    if (newest !== undefined && now() - newest.record.signs_from.getTime() > rotateMs) await rotate();
    const { deletedCount } = await signingKeys.deleteMany({ ring, remove_at: { $lte: new Date(now()) } });
    if (deletedCount > 0) await load();
  }

  await sealAll();
  await load();
  if (keys.length === 0) {
    await add(now());
    await load();
  }
  await tend();

  return {
    signer() {
      const signing = keys.find(({ record }) => record.signs_from.getTime() <= now());
      if (signing === undefined) throw new Error(`the ${ring} ring has no key that signs`);
      return { kid: signing.record._id, key: signing.key };
    },
    jwks,
    signingJwks() {
      const published = keys.filter(({ record }) => isPublished(record));
      const signing = published.find(({ record }) => record.signs_from.getTime() <= now());
      const inOrder = signing === undefined ? published : [signing, ...published.filter((key) => key !== signing)];
      return inOrder.map(({ record }) => ({ ...publicJwk(record), d: whole(record, seal).d as string }));
    },
    verifier: () => verifier,
    rotate,
    load,
    tend,
  };
}

const placeOf = (id: string): string => `signing_keys/${id}`;

/** What is kept of a key: the public half, and the private one sealed for this record alone. */
function sealed(id: string, { d = "", ...jwk }: JWK, seal: Seal): Pick<SigningKeyRecord, "jwk"> & { sealed: string } {
  return { jwk, sealed: seal.seal(d, placeOf(id)) };
}

/** Both halves. @throws SealError where the private one does not open. */
function whole(record: SigningKeyRecord, seal: Seal): JWK {
  return { ...record.jwk, d: seal.open(record.sealed, placeOf(record._id)) };
}

/** The public half, named member by member so that the private one cannot slip out. */
function publicJwk({ _id, jwk: { kty, crv, x } }: SigningKeyRecord): JWK {
  return { kty, crv, x, kid: _id, alg: ALG, use: "sig" } as JWK;
}
