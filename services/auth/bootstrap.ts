import { v7 as uuidv7 } from "uuid";
import { createKeyFormat, DEFAULT_KEY_PREFIX, randomBase62 } from "../shared/credentials/format.js";
import { createWorkLimit } from "../shared/limits/work-limit.js";
import type { Store } from "../shared/store/store.js";
import { normalEmail } from "./emails.js";
import { nameKeyOf } from "./group-records.js";
import { hashPassword } from "./passwords.js";
import { SERVICE_LOGIN } from "./scopes.js";
import { type ApiKeyRecord, type AuthStore, openAuthStore, type UserRecord } from "./store.js";
import { hashSecret } from "./verification.js";

/** What a first start is made with. */
export interface BootstrapOptions {
  readonly store: Store;
  readonly adminEmail: string;
  readonly analystEmail: string;
  readonly keyPrefix?: string;
  /**
   * Puts the secrets where they will be found again. It is awaited before
   * anything is recorded: a crash in between leaves secrets that are void and a
   * first start that is done again, never an installation that nobody can enter.
   */
  readonly keep: (secrets: BootstrapSecrets) => Promise<void> | void;
}

/** What only the first start ever knows. */
export interface BootstrapSecrets {
  readonly admin: PersonSecrets;
  /** Not an administrator; a member of the group "Analysts". */
  readonly analyst: PersonSecrets;
  /** The API key by which the services call each other: scope `internal`. */
  readonly serviceKey: string;
}

/** How a person made at the first start signs in. */
export interface PersonSecrets {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
}

const DONE = "bootstrapped";
const GROUP = "Analysts";

/**
 * Makes the first users, their keys and the service account, once for a store.
 *
 * @returns the secrets, or undefined where it was done before.
 */
export async function bootstrap(options: BootstrapOptions): Promise<BootstrapSecrets | undefined> {
  const { store, keyPrefix = DEFAULT_KEY_PREFIX, keep } = options;
  const records = await openAuthStore(store);
  if ((await records.state.findOne({ _id: DONE })) !== null) return undefined;

  const format = createKeyFormat(keyPrefix);
  const adminKey = format.mint();
  const analystKey = format.mint();
  const serviceKey = format.mint();
  const secrets: BootstrapSecrets = {
    admin: { email: normalEmail(options.adminEmail), password: randomBase62(20), apiKey: adminKey.token },
    analyst: { email: normalEmail(options.analystEmail), password: randomBase62(20), apiKey: analystKey.token },
    serviceKey: serviceKey.token,
  };
  await keep(secrets);

  const groupId = await makeGroup(records);
  const { admin, analyst } = secrets;
  await makeUser(records, { login: admin.email, name: "Administrator", admin: true }, admin.password, adminKey);
  await makeUser(records, { login: analyst.email, name: "Analyst", groups: [groupId] }, analyst.password, analystKey);
  await makeUser(records, { login: SERVICE_LOGIN, name: "Sallyport services", service: true }, null, serviceKey);
  await records.state.insertOne({ _id: DONE, n: 1 });
  return secrets;
}

async function makeGroup({ groups }: AuthStore): Promise<string> {
  const found = await groups.findOne({ name_key: nameKeyOf(GROUP) });
  if (found !== null) return found._id;
  const _id = uuidv7();
  await groups.insertOne({ _id, name: GROUP, name_key: nameKeyOf(GROUP), created_at: new Date() });
  return _id;
}

/** Makes a user with one key, in place of what a first start that broke off left behind. */
async function makeUser(
  { users, keys }: AuthStore,
  who: Pick<UserRecord, "login" | "name"> & Partial<UserRecord>,
  password: string | null,
  { keyId, secret }: { readonly keyId: string; readonly secret: string },
): Promise<void> {
  const left = await users.findOne({ login: who.login });
  if (left !== null) {
    await keys.deleteMany({ user_id: left._id });
    await users.deleteOne({ _id: left._id });
  }
  const now = new Date();
  const user: UserRecord = {
    _id: uuidv7(),
    admin: false,
    groups: [],
    service: false,
    ...who,
    disabled: false,
    email_verified: who.service !== true,
    password_hash: password === null ? null : await hashPassword(password, [who.login], createWorkLimit(1, 1)),
    // It stands in a file until then.
    ...(password !== null && { must_change_password: true }),
    created_at: now,
    updated_at: now,
  };
  const key = await firstKeyOf(user._id, { keyId, secret }, now);
  await users.insertOne(user);
  await keys.insertOne(key);
}

/** A key that never expires, with all that its user holds. */
export async function firstKeyOf(
  userId: string,
  { keyId, secret }: { readonly keyId: string; readonly secret: string },
  now: Date,
): Promise<ApiKeyRecord> {
  return {
    _id: keyId,
    user_id: userId,
    serial: uuidv7(),
    name: "First key",
    ...(await hashSecret(secret)),
    scopes: null,
    created_at: now,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    uses: 0,
  };
}
