import { createHash, timingSafeEqual } from "node:crypto";
import { compare, hash } from "bcrypt";
import type { KeyFormat } from "../shared/credentials/format.js";
import type { Refusal } from "../shared/credentials/known.js";
import { recentlyUsed } from "../shared/limits/recently-used.js";
import type { WorkLimit } from "../shared/limits/work-limit.js";
import type { ApiKeyRecord, AuthStore, GrantRecord, SessionRecord, UserRecord } from "./store.js";

/** A user who is good, as of an event. */
export interface VerifiedUser {
  readonly user: UserRecord;
  /** The last event that the records already take account of. */
  readonly seq: number;
}

/** A key that is good, with its user. */
export interface VerifiedKey extends VerifiedUser {
  readonly key: ApiKeyRecord;
}

/** A grant that stands, with its user. */
export interface VerifiedGrant extends VerifiedUser {
  readonly grant: GrantRecord;
}

/** A session that goes on, with its user. */
export interface VerifiedSession extends VerifiedUser {
  readonly session: SessionRecord;
}

/** A key that is refused. */
export interface RefusedKey extends Refusal {
  /** How long the refusal may be remembered. */
  readonly rememberMs: number;
}

/** Verifies API keys. */
export interface KeyVerification {
  /**
   * The first verification of a key costs a bcrypt, each later one two reads by id.
   *
   * @throws ConnectError unavailable, where too many are waiting: of the key that says nothing.
   */
  verify(token: string): Promise<VerifiedKey | RefusedKey>;
  /** The records behind a key that was verified before; for who holds something minted from it. */
  current(keyId: string, userId: string): Promise<VerifiedKey | RefusedKey>;
  /** The same of a grant, which an access token names. */
  currentGrant(id: string, userId: string): Promise<VerifiedGrant | RefusedKey>;
  /** The same of a session at a browser. */
  currentSession(id: string, userId: string): Promise<VerifiedSession | RefusedKey>;
  /** The record of a user who acts without a key, as what they have done on a schedule does. */
  currentUser(userId: string): Promise<VerifiedUser | RefusedKey>;
}

/**
 * The secret has 256 random bits: no dictionary finds it, so the cost only has
 * to be more than nothing. 8 keeps a cold start short.
 */
const COST = 8;
const REMEMBERED_MS = 5_000;
const THROTTLE_AFTER = 5;
const THROTTLE_MS = 1_000;
const PROVEN_KEPT = 100_000;
const FAILURES_KEPT = 10_000;

/** What is kept of a new secret. */
export async function hashSecret(secret: string): Promise<Pick<ApiKeyRecord, "hash" | "check">> {
  return { hash: await hash(secret, COST), check: checkOf(digestOf(secret)) };
}

/**
 * Verifies keys against the records, with at most one bcrypt for a secret while it is remembered.
 *
 * @param seqOf the newest event, read before the records.
 */
export function createKeyVerification(
  { keys, grants, sessions, users }: AuthStore,
  format: KeyFormat,
  hashing: WorkLimit,
  seqOf: () => number,
): KeyVerification {
  /** SHA-256 of secrets that bcrypt has accepted, by key. */
  const proven = recentlyUsed<Buffer>(PROVEN_KEPT);
  const proving = new Map<string, Promise<boolean>>();
  const failures = recentlyUsed<{ readonly count: number; readonly at: number }>(FAILURES_KEPT);

  async function current(keyId: string, userId: string): Promise<VerifiedKey | RefusedKey> {
    const seq = seqOf();
    const [key, user] = await Promise.all([keys.findOne({ _id: keyId }), users.findOne({ _id: userId })]);
    if (key === null || user === null) return refuse("unknown");
    const ended = endOf(key, user);
    return ended === undefined ? { user, key, seq } : refuse(ended);
  }

  async function currentGrant(id: string, userId: string): Promise<VerifiedGrant | RefusedKey> {
    const seq = seqOf();
    const [grant, user] = await Promise.all([grants.findOne({ _id: id }), users.findOne({ _id: userId })]);
    if (grant === null || user === null || grant.user_id !== userId) return refuse("unknown");
    const ended = endOf(grant, user);
    return ended === undefined ? { user, grant, seq } : refuse(ended);
  }

  async function currentSession(id: string, userId: string): Promise<VerifiedSession | RefusedKey> {
    const seq = seqOf();
    const [session, user] = await Promise.all([sessions.findOne({ _id: id }), users.findOne({ _id: userId })]);
    if (session === null || user === null || session.user_id !== userId) return refuse("unknown");
    if (session.expires_at.getTime() <= Date.now()) return refuse("expired");
    return user.disabled ? refuse("disabled") : { user, session, seq };
  }

  async function currentUser(userId: string): Promise<VerifiedUser | RefusedKey> {
    const seq = seqOf();
    const user = await users.findOne({ _id: userId });
    if (user === null) return refuse("unknown");
    return user.disabled ? refuse("disabled") : { user, seq };
  }

  async function prove(secret: string, digest: Buffer, key: ApiKeyRecord): Promise<boolean> {
    const good = await hashing.run(() => compare(secret, key.hash));
    if (good) {
      failures.delete(key._id);
      proven.set(key._id, digest);
    } else {
      failures.set(key._id, { count: (failures.get(key._id)?.count ?? 0) + 1, at: Date.now() });
    }
    return good;
  }

  /** One bcrypt for all who present the same secret at the same time. */
  function proveOnce(secret: string, digest: Buffer, key: ApiKeyRecord): Promise<boolean> {
    const name = `${key._id} ${digest.toString("base64url")}`;
    let running = proving.get(name);
    if (running === undefined) {
      running = prove(secret, digest, key).finally(() => proving.delete(name));
      proving.set(name, running);
    }
    return running;
  }

  function throttled(keyId: string): boolean {
    const failed = failures.get(keyId);
    return failed !== undefined && failed.count >= THROTTLE_AFTER && Date.now() - failed.at < THROTTLE_MS;
  }

  return {
    current,
    currentGrant,
    currentSession,
    currentUser,
    async verify(token) {
      const parts = format.parse(token);
      if (parts === undefined) return refuse("malformed");
      const { keyId, secret } = parts;
      const key = await keys.findOne({ _id: keyId });
      const digest = digestOf(secret);
      if (key === null || key.check !== checkOf(digest)) return refuse("unknown");
      const known = proven.get(keyId);
      if (known === undefined || !timingSafeEqual(known, digest)) {
        // Nothing is spent on a key that is dead anyway.
        if (key.revoked_at !== null) return refuse("revoked");
        if (throttled(keyId)) return refuse("throttled", THROTTLE_MS);
        if (!(await proveOnce(secret, digest, key))) return refuse("unknown");
      }
      // Read after the slow part: what was revoked in the meantime is refused.
      return current(keyId, key.user_id);
    },
  };
}

/** Why what was given to a user is good no more. */
function endOf(
  { revoked_at, expires_at }: Pick<ApiKeyRecord, "revoked_at" | "expires_at">,
  { disabled }: UserRecord,
): Refusal["refused"] | undefined {
  if (revoked_at !== null) return "revoked";
  if (expires_at !== null && expires_at.getTime() <= Date.now()) return "expired";
  return disabled ? "disabled" : undefined;
}

function refuse(refused: Refusal["refused"], rememberMs = REMEMBERED_MS): RefusedKey {
  return { refused, rememberMs };
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function checkOf(digest: Buffer): string {
  return digest.toString("hex", 0, 4);
}
