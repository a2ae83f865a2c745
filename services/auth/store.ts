import type { JWK } from "jose";
import type { Base, CollectionSpec, DocCollection, Store } from "../shared/store/store.js";
import type { AuditKindName } from "./audit-kinds.js";

/** A record that one process at a time vouches for (fence.ts). */
export interface ClaimedRecord extends Base {
  /** The epoch of the process that vouches for it; absent where none but the first ever did. */
  readonly term?: number;
}

/** Someone who may call: a person, or a service account. */
export interface UserRecord extends ClaimedRecord {
  /** The normalised e-mail address of a person, or `service:<name>`; unique. */
  readonly login: string;
  readonly name: string;
  readonly admin: boolean;
  readonly disabled: boolean;
  readonly groups: string[];
  readonly email_verified: boolean;
  readonly service: boolean;
  /** Argon2id in PHC format; null for who signs in elsewhere. */
  readonly password_hash: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** That an assertion was used; the id is the SHA-256 of whose and which (RFC 7523 section 3, jti). */
export interface UsedAssertionRecord extends Base {
  readonly expires_at: Date;
}

/** A group of users, which objects can be shared with. */
export interface GroupRecord extends ClaimedRecord {
  readonly name: string;
  /** The name as it is compared: NFKC, lower case; unique. */
  readonly name_key: string;
  readonly created_at: Date;
}

/** An API key at rest; the id is the public part of the token. */
export interface ApiKeyRecord extends ClaimedRecord {
  readonly user_id: string;
  /** UUIDv7: the order in which keys were created. */
  readonly serial: string;
  readonly name: string;
  /** bcrypt of the secret alone: 43 bytes, below the 72 that bcrypt looks at. */
  readonly hash: string;
  /** The first 32 bits of the secret's SHA-256: a wrong secret never costs a bcrypt. */
  readonly check: string;
  /** null for every scope of the user. */
  readonly scopes: string[] | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly uses: number;
}

/** Whom another provider means by a subject; the id is the SHA-256 of issuer and subject. */
export interface IdentityRecord extends Base {
  readonly issuer: string;
  readonly subject: string;
  readonly user_id: string;
  /** The verified address by which it was linked. */
  readonly email: string;
  readonly linked_at: Date;
}

/** The rings of signing keys; a key belongs to one of them for ever. */
export type RingName = "access" | "assertion" | "platform";

/** A private signing key; the id is its RFC 7638 thumbprint. */
export interface SigningKeyRecord extends Base {
  readonly ring: RingName;
  /** The public half. */
  readonly jwk: JWK;
  /** The private half, `d` of RFC 8037, sealed. */
  readonly sealed: string;
  readonly created_at: Date;
  /** When it begins to sign; it is published before. */
  readonly signs_from: Date;
  /** When it is no longer published; null while it has no successor. */
  readonly remove_at: Date | null;
}

/** That a caller had work begun which goes on without them; the id is the SHA-256 of what stands for it. */
export interface DelegationRecord extends Base {
  readonly user_id: string;
  /** "" where it outlives the key. */
  readonly key_id: string;
  /** What is done on a schedule, and what it is called; absent for other delegations. */
  readonly schedule_id?: string;
  readonly schedule_name?: string;
  /** The key that set the schedule, or the one that took that key's place. */
  readonly schedule_key?: string;
  /** Those that the caller held: it never gives more. */
  readonly scopes: readonly string[];
  readonly created_at: Date;
  /** null for one that ends when somebody ends it. */
  readonly expires_at: Date | null;
}

/** Single facts about this installation. */
export interface StateRecord extends Base {
  readonly n: number;
}

/** One thing that was done, or refused. The id is its number, with zeros in front. */
export interface AuditRecordDoc extends Base {
  /** When it was written down and the id: what lists are ordered and cut by. */
  readonly order: string;
  readonly kind: AuditKindName;
  readonly recorded_at: Date;
  readonly user_id: string;
  readonly user_email: string;
  readonly key_id: string;
  readonly action: string;
  readonly target: string;
  readonly arguments: readonly string[];
  readonly outcome: string;
  readonly trace_id: string;
  readonly count: number;
  readonly expires_at: Date;
}

/** The collections of the auth service. */
export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: "users",
    indexes: [
      { name: "users_login", key: { login: 1 }, unique: true },
      { name: "users_groups", key: { groups: 1 } },
      { name: "users_admin", key: { admin: 1 } },
    ],
  },
  {
    name: "groups",
    indexes: [{ name: "groups_name", key: { name_key: 1 }, unique: true }],
  },
  {
    name: "api_keys",
    indexes: [{ name: "api_keys_user", key: { user_id: 1, serial: -1 } }],
  },
  {
    name: "signing_keys",
    indexes: [{ name: "signing_keys_ring", key: { ring: 1 } }],
  },
  {
    name: "delegations",
    indexes: [
      { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 },
      { name: "schedule_key", key: { schedule_key: 1 } },
      { name: "schedule", key: { user_id: 1, schedule_id: 1, created_at: -1 } },
    ],
  },
  {
    name: "used_assertions",
    indexes: [{ name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 }],
  },
  { name: "auth_state", indexes: [] },
  {
    name: "identities",
    // A user is one subject of an issuer.
    indexes: [{ name: "identities_user_issuer", key: { user_id: 1, issuer: 1 }, unique: true }],
  },
  {
    name: "audit",
    indexes: [
      { name: "order", key: { order: -1 } },
      { name: "kind", key: { kind: 1, order: -1 } },
      { name: "user", key: { user_email: 1, kind: 1, order: -1 } },
      { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 },
    ],
  },
];

/** The records of the auth service. */
export interface AuthStore {
  readonly users: DocCollection<UserRecord>;
  readonly groups: DocCollection<GroupRecord>;
  readonly keys: DocCollection<ApiKeyRecord>;
  readonly signingKeys: DocCollection<SigningKeyRecord>;
  readonly delegations: DocCollection<DelegationRecord>;
  readonly identities: DocCollection<IdentityRecord>;
  readonly usedAssertions: DocCollection<UsedAssertionRecord>;
  readonly state: DocCollection<StateRecord>;
  readonly audit: DocCollection<AuditRecordDoc>;
}

/** Creates what is missing and gives the records. */
export async function openAuthStore(store: Store): Promise<AuthStore> {
  await store.ensure(COLLECTIONS);
  return {
    users: store.collection("users"),
    groups: store.collection("groups"),
    keys: store.collection("api_keys"),
    signingKeys: store.collection("signing_keys"),
    delegations: store.collection("delegations"),
    identities: store.collection("identities"),
    usedAssertions: store.collection("used_assertions"),
    state: store.collection("auth_state"),
    audit: store.collection("audit"),
  };
}
