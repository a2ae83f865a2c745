import { type CryptoKey, errors, type JWK, type JWTVerifyGetKey } from "jose";
import { failedPrecondition, notFound, unavailable } from "../shared/rpc/errors.js";
import type { Seal } from "../shared/secrets/seal.js";
import { type LoadedKey, loadKey, newKey, privateJwk, publicJwk, resealed } from "./key-ring-record.js";
import {
  followed,
  type KeyState,
  type Keys,
  mended,
  pendingOf,
  publishedOf,
  signerOf,
  stateOf,
} from "./key-ring-steps.js";
import { looseKeys } from "./loose-keys.js";
import type { AuthStore, KeyRingRecord, RingName, SigningKeyRecord } from "./store.js";
import { createStoredRing, type RingStep, type StoredRing } from "./stored-ring.js";

/**
 * Signing keys of one purpose, Ed25519, kept in the store.
 *
 * A key belongs to one ring for ever: an access token signed with a key that
 * platforms trust would be a login there.
 *
 * Several processes may change a ring: it is one record, and each change of it one
 * conditional update. Whatever is asked of a ring reads that record first, so that no
 * process signs with, publishes or accepts a key that another one has revoked.
 */
export interface KeyRing {
  readonly name: RingName;
  /** The key that signs now. */
  signer(): Promise<{ readonly kid: string; readonly key: CryptoKey }>;
  /** The public keys as JWK set: those that signed lately, the one that signs, and the one that will. */
  jwks(): Promise<{ readonly keys: JWK[] }>;
  /** The published keys with their private halves, the one that signs first: for a library that signs itself. */
  signingJwks(): Promise<readonly JWK[]>;
  /** The published keys, the newest first. */
  list(): Promise<readonly ListedKey[]>;
  /**
   * Finds the public key of a signature among those published.
   *
   * It throws jose's JWKSNoMatchingKey if none of them signed, and ConnectError unavailable if the store does not answer.
   */
  verifier(): JWTVerifyGetKey;
  /** Grows with each change of the ring: what was verified under an earlier one has to be verified again. */
  revision(): Promise<number>;
  /**
   * Publishes a key that signs after the lead, and takes those before it down after lead and grace.
   *
   * @returns the new key, and the one that it follows.
   * @throws ConnectError failed_precondition while another key waits for its lead.
   */
  rotate(): Promise<{ readonly key: ListedKey; readonly previous: ListedKey }>;
  /**
   * Takes a key down at once. If it signs, another does from now on. One that was revoked before is no error.
   *
   * @throws ConnectError not_found for a key that the ring does not have.
   */
  revoke(kid: string): Promise<void>;
  /** Rotates if the newest key is old, and forgets keys that are no longer published. */
  tend(): Promise<void>;
}

/** A published key, without its halves. */
export interface ListedKey {
  readonly ring: RingName;
  readonly kid: string;
  readonly createdAt: Date;
  readonly signsFrom: Date;
  /** null while it has no successor. */
  readonly removeAt: Date | null;
  readonly state: KeyState;
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

/** Revoked keys that a ring remembers. */
const REMEMBERED = 200;

/** Loads a ring and makes its first key if it has none. @throws SealError where a key does not open. */
export async function openKeyRing(store: AuthStore, name: RingName, options: KeyRingOptions): Promise<KeyRing> {
  const ring = new LoadedKeyRing(store, name, options);
  await ring.open();
  return ring;
}

class LoadedKeyRing implements KeyRing {
  readonly #now: () => number;
  readonly #stored: StoredRing;
  #revision = -1;
  #keys: readonly LoadedKey[] = [];

  constructor(
    private readonly store: AuthStore,
    readonly name: RingName,
    private readonly options: KeyRingOptions,
  ) {
    this.#now = options.now ?? Date.now;
    this.#stored = createStoredRing(store, name);
  }

  async open(): Promise<void> {
    await this.#stored.create(() => this.#first(), this.#now());
    // A version before 0066 that ran again in the meantime made keys of its own.
    await this.store.signingKeys.deleteMany({ ring: this.name });
    const { seal } = this.options;
    await this.#change(({ keys }) => {
      const current = keys.map((key) => resealed(key, seal));
      return current.some((key, i) => key !== keys[i]) ? { keys: current } : undefined;
    });
    await this.#load();
    await this.tend();
  }

  async signer(): Promise<{ readonly kid: string; readonly key: CryptoKey }> {
    await this.#load();
    const signing = signerOf(this.#records(), this.#now());
    const loaded = this.#keys.find(({ record }) => record === signing);
    if (loaded === undefined) throw new Error(`the ring ${this.name} has no key that signs`);
    return { kid: loaded.record._id, key: loaded.signing };
  }

  async jwks(): Promise<{ readonly keys: JWK[] }> {
    await this.#load();
    return { keys: publishedOf(this.#records(), this.#now()).map(publicJwk) };
  }

  async signingJwks(): Promise<readonly JWK[]> {
    await this.#load();
    const published = publishedOf(this.#records(), this.#now());
    const signing = signerOf(this.#records(), this.#now());
    const inOrder = [...published.filter((key) => key === signing), ...published.filter((key) => key !== signing)];
    return inOrder.map((key) => privateJwk(key, this.options.seal));
  }

  async list(): Promise<readonly ListedKey[]> {
    await this.#load();
    return this.#listed(this.#records());
  }

  verifier(): JWTVerifyGetKey {
    return async ({ kid }) => {
      await this.#load();
      const published = publishedOf(this.#records(), this.#now());
      const found = this.#keys.find(({ record }) => record._id === kid && published.includes(record));
      if (found === undefined) throw new errors.JWKSNoMatchingKey();
      return found.verifying;
    };
  }

  async revision(): Promise<number> {
    await this.#load();
    return this.#revision;
  }

  async rotate(): Promise<{ readonly key: ListedKey; readonly previous: ListedKey }> {
    const keys = await this.#change(async ({ keys }) => {
      const pending = pendingOf(keys, this.#now());
      if (pending !== undefined) throw this.#underWay(pending);
      return { keys: await this.#rotated(keys) };
    });
    const [key, previous] = this.#listed(keys);
    return { key, previous } as { key: ListedKey; previous: ListedKey };
  }

  async revoke(kid: string): Promise<void> {
    await this.#change(async ({ keys, revoked }) => {
      if (revoked.includes(kid)) return undefined;
      const left = keys.filter(({ _id }) => _id !== kid);
      if (left.length === keys.length)
        throw notFound(`the ring ${this.name} has no key ${JSON.stringify(kid)}: signing-keys list shows the keys`);
      const now = this.#now();
      return {
        keys: await mended(left, now, () => this.#fresh(now)),
        revoked: [kid, ...revoked].slice(0, REMEMBERED),
      };
    });
  }

  async tend(): Promise<void> {
    await this.#change(async ({ keys: before }) => {
      const now = this.#now();
      let keys = await mended(publishedOf(before, now), now, () => this.#fresh(now));
      const age = now - (keys[0] as SigningKeyRecord).signs_from.getTime();
      if (age > this.options.rotateMs) keys = await this.#rotated(keys);
      const isSame = keys.length === before.length && keys.every((key, i) => key === before[i]);
      return isSame ? undefined : { keys };
    });
  }

  async #load(): Promise<void> {
    let record: KeyRingRecord;
    try {
      record = await this.#stored.read();
    } catch (error) {
      throw unavailable("the signing keys cannot be read at the moment: try again in a few seconds", error);
    }
    if (record.revision > this.#revision) await this.#take(record);
  }

  /** Keys that were loaded before are not opened again: they may be sealed with a newer sealing key now. */
  async #take({ revision, keys }: KeyRingRecord): Promise<void> {
    const loaded = await Promise.all(
      keys.map(async (record) => {
        const known = this.#keys.find((one) => one.record._id === record._id);
        return known === undefined ? loadKey(record, this.options.seal) : { ...known, record };
      }),
    );
    // Another load may have ended meanwhile.
    if (revision <= this.#revision) return;
    this.#revision = revision;
    this.#keys = loaded;
  }

  async #first(): Promise<Keys> {
    const loose = await this.store.signingKeys.find({ ring: this.name }).toArray();
    return loose.length > 0 ? looseKeys(loose, this.options.graceMs) : [await this.#fresh(this.#now())];
  }

  async #change(step: RingStep): Promise<Keys> {
    const record = await this.#stored.change(step);
    if (record.revision > this.#revision) await this.#take(record);
    return record.keys;
  }

  #fresh(now: number): Promise<SigningKeyRecord> {
    return newKey(this.options.seal, new Date(now), new Date(now));
  }

  async #rotated(keys: Keys): Promise<Keys> {
    const { seal, leadMs, graceMs } = this.options;
    const now = this.#now();
    return followed(keys, await newKey(seal, new Date(now), new Date(now + leadMs)), graceMs);
  }

  #underWay({ _id, signs_from }: SigningKeyRecord): Error {
    return failedPrecondition(
      `a rotation of the ring ${this.name} is under way: the key ${_id} is published and signs from ${signs_from.toISOString()}; rotate again after that, or revoke a key that is compromised`,
    );
  }

  #records(): Keys {
    return this.#keys.map(({ record }) => record);
  }

  #listed(keys: Keys): readonly ListedKey[] {
    const now = this.#now();
    return publishedOf(keys, now).map((key) => ({
      ring: this.name,
      kid: key._id,
      createdAt: key.created_at,
      signsFrom: key.signs_from,
      removeAt: key.remove_at,
      state: stateOf(keys, key, now),
    }));
  }
}
