import type { KeyFormat } from "../shared/credentials/format.js";
import { firstKeyOf } from "./bootstrap.js";
import { endSigningKeys } from "./end-signing-keys.js";
import { SERVICE_LOGIN } from "./scopes.js";
import type { AuthStore, UserRecord } from "./store.js";

/** Keys in place of those that were all revoked: what it takes to go on. */
export interface RenewedKeys {
  readonly revoked: number;
  /** By which our processes call each other. */
  readonly serviceKey: string;
  /** Of those people who are wanted and may call, by address; of the oldest administrator where none of them is one. */
  readonly people: ReadonlyMap<string, string>;
}

/**
 * Revokes every key of a store, those that sign too, ends every delegation, and makes new ones for our own processes and for
 * some people, an administrator among them.
 *
 * @throws Error where there is no administrator who may call.
 */
export async function renewKeys(
  store: AuthStore,
  format: KeyFormat,
  emails: readonly string[],
  now = new Date(),
): Promise<RenewedKeys> {
  const { modifiedCount: revoked } = await store.keys.updateMany({ revoked_at: null }, { $set: { revoked_at: now } });
  // Nobody who was present before is any more, in schedules neither.
  await store.delegations.deleteMany({});
  await endSigningKeys(store);
  const wanted = await store.users.find({ login: { $in: [...emails] }, disabled: false, service: false }).toArray();
  if (!wanted.some(({ admin }) => admin)) wanted.push(await oldestAdministrator(store));
  const people = new Map<string, string>();
  for (const user of wanted) people.set(user.login, await newKey(store, format, user, now));
  const service = await store.users.findOne({ login: SERVICE_LOGIN });
  if (service === null)
    throw new Error(
      "the store has no account for the service's own processes, so its first start did not finish: use another store",
    );
  return { revoked, people, serviceKey: await newKey(store, format, service, now) };
}

async function oldestAdministrator({ users }: AuthStore): Promise<UserRecord> {
  const found = await users.find({ admin: true, disabled: false }).sort({ _id: 1 }).limit(1).toArray();
  if (found[0] === undefined)
    throw new Error("the store has no enabled administrator, so nobody could use new keys: use another store");
  return found[0];
}

async function newKey({ keys }: AuthStore, format: KeyFormat, { _id }: UserRecord, now: Date): Promise<string> {
  const minted = format.mint();
  await keys.insertOne(await firstKeyOf(_id, minted, now));
  return minted.token;
}
