import { endOfAudit, rememberEnd } from "./audit-end.js";
import type { AccountGrant, ApiKeyRecord, AuditRecordDoc, AuthStore, UserRecord } from "./store.js";

/** What was taken away since the backup and is so again. */
export interface Withdrawn {
  readonly keys: number;
  readonly users: number;
  readonly groups: number;
  readonly signingKeys: number;
  /** Records of the audit that the backup did not have. */
  readonly auditRecords: number;
}

/** Written in one go. */
const BATCH = 500;

/**
 * Takes away in a restored store what the store that it replaces knows to be
 * taken away: keys that were revoked or shortened, connections that ended, users
 * who were disabled, deleted, or lost rights, groups that were deleted, signing keys
 * that were revoked. Nothing is given back by a
 * restore. The audit goes on, and so does the count of epochs.
 */
export async function replayAuth(old: AuthStore, restored: AuthStore): Promise<Withdrawn> {
  const groups = await replayGroups(old, restored);
  const users = await replayUsers(old, restored);
  const keys = await replayKeys(old, restored);
  await replayGrants(old, restored);
  // Whoever was signed in then may have signed out.
  await restored.sessions.deleteMany({});
  const signingKeys = await replayKeyRings(old, restored);
  const auditRecords = await carryAudit(old, restored);
  // What was used once is used, also if the backup is older than its use.
  for await (const used of old.usedAssertions.find({}))
    await restored.usedAssertions.updateOne(
      { _id: used._id },
      { $set: { expires_at: used.expires_at } },
      { upsert: true },
    );
  const epoch = await old.state.findOne({ _id: "epoch" });
  if (epoch !== null) await restored.state.updateOne({ _id: "epoch" }, { $max: { n: epoch.n } }, { upsert: true });
  return { keys, users, groups, signingKeys, auditRecords };
}

async function replayGroups(old: AuthStore, restored: AuthStore): Promise<number> {
  let deleted = 0;
  for await (const { _id } of restored.groups.find({})) {
    if ((await old.groups.findOne({ _id })) !== null) continue;
    await restored.users.updateMany({ groups: _id }, { $pull: { groups: _id } });
    await restored.groups.deleteOne({ _id });
    deleted++;
  }
  return deleted;
}

async function replayUsers(old: AuthStore, restored: AuthStore): Promise<number> {
  let changed = 0;
  for await (const user of restored.users.find({})) {
    const now = await old.users.findOne({ _id: user._id });
    if (now === null) {
      await restored.users.deleteOne({ _id: user._id });
      changed++;
      continue;
    }
    const less = lessOf(user, now);
    const { modifiedCount } = await restored.users.updateOne({ _id: user._id }, { $set: less });
    changed += modifiedCount;
  }
  return changed;
}

/** As little as either store gives a user; the password is the one set last. */
function lessOf(user: UserRecord, now: UserRecord): Partial<UserRecord> {
  return {
    disabled: user.disabled || now.disabled,
    admin: user.admin && now.admin,
    email_verified: user.email_verified && now.email_verified,
    groups: user.groups.filter((id) => now.groups.includes(id)),
    password_hash: now.password_hash,
    ...(user.account !== undefined && { account: grantLeft(user.account, now.account) }),
  };
}

/** A service account signs with the keys, and reaches the rpcs and users, that both stores give it. */
function grantLeft(before: AccountGrant, now: AccountGrant | undefined): AccountGrant {
  const texts = new Set(now?.keys.map((key) => JSON.stringify(key)));
  return {
    keys: before.keys.filter((key) => texts.has(JSON.stringify(key))),
    methods: before.methods.filter((name) => now?.methods.includes(name)),
    act_users: before.act_users.filter((id) => now?.act_users.includes(id)),
    act_groups: before.act_groups.filter((id) => now?.act_groups.includes(id)),
  };
}

async function replayKeys(old: AuthStore, restored: AuthStore): Promise<number> {
  let changed = 0;
  for await (const key of restored.keys.find({})) {
    const now = await old.keys.findOne({ _id: key._id });
    const { modifiedCount } = await restored.keys.updateOne({ _id: key._id }, { $set: endsOf(key, now) });
    changed += modifiedCount;
  }
  return changed;
}

/** A key ends when either store says; one that the old store does not have was deleted with its user. */
function endsOf(key: ApiKeyRecord, now: ApiKeyRecord | null): Pick<ApiKeyRecord, "revoked_at" | "expires_at"> {
  const ends = [key.expires_at, now?.expires_at ?? null].filter((at) => at !== null);
  const revokedAt = key.revoked_at ?? (now === null ? new Date() : now.revoked_at);
  return {
    revoked_at: revokedAt,
    expires_at: ends.length === 0 ? null : new Date(Math.min(...ends.map((at) => at.getTime()))),
  };
}

/** Grants end as keys do; of codes and refresh tokens only those stay that were not used since. */
async function replayGrants(old: AuthStore, restored: AuthStore): Promise<void> {
  for await (const grant of restored.grants.find({ revoked_at: null })) {
    const now = await old.grants.findOne({ _id: grant._id });
    const revoked_at = now === null ? new Date() : now.revoked_at;
    if (revoked_at !== null) await restored.grants.updateOne({ _id: grant._id }, { $set: { revoked_at } });
  }
  for await (const { _id, model } of restored.oauth.find({})) {
    if (KEPT_MODELS.has(model)) continue;
    const now = await old.oauth.findOne({ _id });
    if (now === null || now.consumed_at !== null) await restored.oauth.deleteOne({ _id });
  }
}

/** What opens nothing by itself. */
const KEPT_MODELS: ReadonlySet<string> = new Set(["Client", "Grant"]);

/** A ring that loses the key that signs makes another when the service starts. */
async function replayKeyRings(old: AuthStore, restored: AuthStore): Promise<number> {
  let changed = 0;
  for await (const { _id, revoked } of old.keyRings.find({})) {
    const { deletedCount } = await restored.signingKeys.deleteMany({ _id: { $in: [...revoked] } });
    changed += deletedCount;
    const ring = await restored.keyRings.findOne({ _id });
    if (ring === null) continue;
    const keys = ring.keys.filter((key) => !revoked.includes(key._id));
    changed += ring.keys.length - keys.length;
    const all = [...new Set([...revoked, ...ring.revoked])];
    await restored.keyRings.updateOne({ _id }, { $set: { keys, revoked: all }, $inc: { revision: 1 } });
  }
  return changed;
}

async function carryAudit(old: AuthStore, restored: AuthStore): Promise<number> {
  const [last] = await restored.audit.find({}, { sort: { _id: -1 }, limit: 1 }).toArray();
  const since = last === undefined ? {} : { _id: { $gt: last._id } };
  let carried = 0;
  let batch: AuditRecordDoc[] = [];
  const write = async (): Promise<void> => {
    if (batch.length > 0) await restored.audit.insertMany(batch);
    carried += batch.length;
    batch = [];
  };
  for await (const record of old.audit.find(since, { sort: { _id: 1 } })) {
    batch.push(record);
    if (batch.length === BATCH) await write();
  }
  await write();
  // Numbers that receivers have are not given again.
  await rememberEnd(restored, await endOfAudit(old));
  return carried;
}
