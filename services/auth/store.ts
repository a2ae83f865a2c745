import type { JWK } from "jose";
import type { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Base, CollectionSpec, DocCollection, Store } from "../shared/store/store.js";
import type { AuditKindName } from "./audit-kinds.js";

/** Someone who may call: a person, or a service account. */
export interface UserRecord extends Base {
  /** The normalised e-mail address of a person, or `svc:<name>` and `service:sallyport` of service accounts; unique. */
  readonly login: string;
  readonly name: string;
  readonly admin: boolean;
  readonly disabled: boolean;
  readonly groups: string[];
  readonly email_verified: boolean;
  readonly service: boolean;
  /** Argon2id in PHC format; null for who signs in elsewhere. */
  readonly password_hash: string | null;
  /** Somebody else has chosen the password: the person chooses another before anything else. */
  readonly must_change_password?: boolean;
  /** What makes it an internal system's; absent for people, and for the account of our own processes. */
  readonly account?: AccountGrant;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** What a service account signs with, what it may call, and for whom. */
export interface AccountGrant {
  /** Public keys alone, each with `kid` and `alg`. */
  readonly keys: JWK[];
  /** `package.Service/Method`, or `package.Service/*`. */
  readonly methods: string[];
  /** Ids. */
  readonly act_users: string[];
  readonly act_groups: string[];
}

/** That an assertion was used; the id is the SHA-256 of whose and which (RFC 7523 section 3, jti). */
export interface UsedAssertionRecord extends Base {
  readonly expires_at: Date;
}

/** A group of users, which objects can be shared with. */
export interface GroupRecord extends Base {
  readonly name: string;
  /** The name as it is compared: NFKC, lower case; unique. */
  readonly name_key: string;
  readonly created_at: Date;
}

/** An API key at rest; the id is the public part of the token. */
export interface ApiKeyRecord extends Base {
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
  /** What the MCP client that connected last calls itself; nobody has verified it. */
  readonly client?: string;
  readonly client_connected_at?: Date;
}

/**
 * That a person lets a client call one MCP endpoint as them: what access tokens
 * and refresh tokens stand for. The id is the `gid` of access tokens.
 */
export interface GrantRecord extends Base {
  readonly user_id: string;
  /** UUIDv7: the order in which grants were given. */
  readonly serial: string;
  readonly client_id: string;
  /** What the client calls itself; nobody has verified it. */
  readonly client_name: string;
  /** The host of the client's document, "" for a client that registered itself. */
  readonly client_host: string;
  /** Where the browser was sent: an origin, or the scheme of an app. */
  readonly redirect: string;
  /** The URL of the MCP endpoint (RFC 8707), and its server. */
  readonly resource: string;
  readonly server: string;
  readonly scopes: string[];
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly uses: number;
  /** What the MCP client that connected last calls itself; nobody has verified it. */
  readonly client?: string;
  readonly client_connected_at?: Date;
}

/** That a person is signed in at a browser; the id is the SHA-256 of what the browser has. */
export interface SessionRecord extends Base {
  readonly user_id: string;
  readonly created_at: Date;
  readonly seen_at: Date;
  readonly expires_at: Date;
  readonly address: string;
  readonly user_agent: string;
  readonly amr: string;
  /** The page for which another provider asked who the person is, as a path. */
  readonly page?: string;
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

/** How many sign-ins have failed; the id says what they had in common, as a SHA-256. */
export interface AttemptRecord extends Base {
  readonly failures: number;
  readonly last_at: Date;
  readonly expires_at: Date;
}

/** What the authorization server keeps of one of its models; the id is a SHA-256 of the model and the id, which may be a secret. */
export interface OauthRecord extends Base {
  readonly model: string;
  /** JSON; sealed where it holds what opens something. */
  readonly payload: string;
  readonly grant_id: string | null;
  readonly uid: string | null;
  readonly consumed_at: Date | null;
  /** null for what stays. */
  readonly expires_at: Date | null;
}

/** The rings of signing keys; a key belongs to one of them for ever. */
export type RingName = "access" | "assertion" | "platform";

/** A private signing key; the id is its RFC 7638 thumbprint. */
export interface SigningKeyRecord extends Base {
  /** The public half. */
  readonly jwk: JWK;
  /** The private half, `d` of RFC 8037, sealed. */
  readonly sealed: string;
  readonly created_at: Date;
  /** When it begins to sign; it is published before. */
  readonly signs_from: Date;
  /** When its successor begins to sign; null while it has none. */
  readonly signs_until: Date | null;
  /** When it is no longer published; null while it has no successor. */
  readonly remove_at: Date | null;
}

/** A ring, whole in one record, so that each change of it is one step. The id is its name. */
export interface KeyRingRecord extends Base {
  readonly _id: RingName;
  /** Grows with each change; a change is made only of the revision that it was computed from. */
  readonly revision: number;
  /** The newest first. */
  readonly keys: readonly SigningKeyRecord[];
  /** The ids of keys that were revoked, the newest first: a restore does not bring them back. */
  readonly revoked: readonly string[];
}

/** A key as versions before 0066 kept it, in a record of its own. */
export interface LooseKeyRecord extends Omit<SigningKeyRecord, "signs_until"> {
  readonly ring: RingName;
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
  /** A secret of the installation, sealed. */
  readonly sealed?: string;
  /** Of the record that the audit goes on from, whose number is `n`: when it was written, and its hash. */
  readonly record?: { readonly at: Date; readonly hash: string };
}

/** An event that watchers are told of; the id is its number, with zeros in front. */
export interface EventRecord extends Base {
  readonly kind: EventKind;
  readonly id: string;
}

/** An auth process of this store; the id is its epoch. */
export interface ProcessRecord extends Base {
  /** Grows while the process is there. */
  readonly beat: number;
  /** How long the leases are that it gives, in milliseconds. */
  readonly lease_ms: number;
  /** The last event before which none of its watchers can act on anything. */
  readonly ack: number;
  /** How many of its watchers acknowledged that event. */
  readonly acknowledged: number;
  /** How many of its watchers let their lease run out instead. */
  readonly expired: number;
}

/** One thing that was done, or refused. The id is its number, with zeros in front. */
export interface AuditRecordDoc extends Base {
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
  /** `svc:<name>`; absent for calls of others. */
  readonly service_account?: string;
  readonly count: number;
  /** The hash of the record before it; "" if there was none, absent in records of before there were hashes. */
  readonly previous?: string;
  /** Written before the call that it is of ended; absent in others. */
  readonly begun?: true;
  /** By which its sender knows it; not part of the hash, and absent in records that are never sent again. */
  readonly sent_id?: string;
}

/** Where the export of the audit to a receiver is. The id is the receiver's URL. */
export interface AuditReceiverRecord extends Base {
  /** The process that sends. */
  readonly holder: string;
  /** Then another process may send. */
  readonly until: Date;
  /** The id of the last record that the receiver has; "" for none. */
  readonly after: string;
  /** The id of the last record when the receiver was new; "" for none. */
  readonly since: string;
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
    indexes: [
      { name: "api_keys_user", key: { user_id: 1, serial: -1 } },
      { name: "api_keys_serial", key: { serial: -1 } },
    ],
  },
  { name: "key_rings", indexes: [] },
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
  { name: "auth_events", indexes: [] },
  { name: "auth_processes", indexes: [], scanBound: 1_000 },
  {
    name: "grants",
    indexes: [
      { name: "grants_user", key: { user_id: 1, serial: -1 } },
      { name: "grants_serial", key: { serial: -1 } },
    ],
  },
  {
    name: "sessions",
    indexes: [
      { name: "sessions_user", key: { user_id: 1 } },
      { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 },
    ],
  },
  {
    name: "sign_in_attempts",
    indexes: [{ name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 }],
  },
  {
    name: "oauth",
    indexes: [
      { name: "oauth_grant", key: { grant_id: 1 } },
      { name: "oauth_uid", key: { uid: 1 } },
      { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 },
    ],
  },
  {
    name: "identities",
    // A user is one subject of an issuer.
    indexes: [{ name: "identities_user_issuer", key: { user_id: 1, issuer: 1 }, unique: true }],
  },
  {
    name: "audit",
    journaled: true,
    indexes: [
      // A list of all kinds reads this index once for each kind: another index would add a write to every change.
      { name: "kind", key: { kind: 1, _id: -1 } },
      { name: "user", key: { user_email: 1, kind: 1, _id: -1 } },
    ],
    // Numbers are in the order of time: they order lists, and tell whose days are over.
    migrations: [{ filter: { order: { $exists: true } }, update: { $unset: { order: "", expires_at: "" } } as never }],
  },
  { name: "audit_receivers", indexes: [] },
];

/** The records of the auth service. */
export interface AuthStore {
  readonly users: DocCollection<UserRecord>;
  readonly groups: DocCollection<GroupRecord>;
  readonly keys: DocCollection<ApiKeyRecord>;
  readonly keyRings: DocCollection<KeyRingRecord>;
  readonly signingKeys: DocCollection<LooseKeyRecord>;
  readonly delegations: DocCollection<DelegationRecord>;
  readonly grants: DocCollection<GrantRecord>;
  readonly sessions: DocCollection<SessionRecord>;
  readonly identities: DocCollection<IdentityRecord>;
  readonly attempts: DocCollection<AttemptRecord>;
  readonly oauth: DocCollection<OauthRecord>;
  readonly usedAssertions: DocCollection<UsedAssertionRecord>;
  readonly state: DocCollection<StateRecord>;
  readonly events: DocCollection<EventRecord>;
  readonly processes: DocCollection<ProcessRecord>;
  readonly audit: DocCollection<AuditRecordDoc>;
  readonly auditReceivers: DocCollection<AuditReceiverRecord>;
}

/** Creates what is missing and gives the records. */
export async function openAuthStore(store: Store): Promise<AuthStore> {
  await store.ensure(COLLECTIONS);
  return {
    users: store.collection("users"),
    groups: store.collection("groups"),
    keys: store.collection("api_keys"),
    keyRings: store.collection("key_rings"),
    signingKeys: store.collection("signing_keys"),
    delegations: store.collection("delegations"),
    grants: store.collection("grants"),
    sessions: store.collection("sessions"),
    identities: store.collection("identities"),
    attempts: store.collection("sign_in_attempts"),
    oauth: store.collection("oauth"),
    usedAssertions: store.collection("used_assertions"),
    state: store.collection("auth_state"),
    events: store.collection("auth_events"),
    processes: store.collection("auth_processes"),
    audit: store.collection("audit"),
    auditReceivers: store.collection("audit_receivers"),
  };
}
