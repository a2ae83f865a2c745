import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Log } from "../../shared/process/log.js";
import { aborted } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { nameKeyOf } from "../group-records.js";
import type { UserRecord } from "../store.js";
import type { OutsidePerson } from "./person.js";
import { SignInRefusedError } from "./refusal.js";
import type { ProviderSetting } from "./setting.js";

/** A user after a provider's groups were applied. */
export interface MappedUser {
  readonly user: UserRecord;
  /** What changed, as audit records have it: `+SOC`, `-SOC`, `admin=true`; empty for nothing. */
  readonly changes: readonly string[];
  /** The provider says that the user is no administrator, and the user is the last one. */
  readonly isLastAdministrator: boolean;
}

type Needs = Pick<Context, "store" | "hub" | "administrators">;
type Change = Pick<UserRecord, "groups" | "admin">;

/** Others may change the same user at the same time. */
const TRIES = 5;

/**
 * Gives a user the groups of a provider: of those that the setting names, the
 * user is then in exactly the ones that the provider says; all others stay.
 * Resolves when every process knows of the change.
 *
 * @throws SignInRefusedError user_disabled, where the user was disabled or deleted meanwhile.
 */
export async function mapGroups(
  context: Needs,
  setting: ProviderSetting,
  person: OutsidePerson,
  user: UserRecord,
  log: Log,
): Promise<MappedUser> {
  const named = await groupsNamed(context, setting, log);
  const write = () => writeGroups(context, setting, { person, named }, user);
  const { administrators } = setting;
  const takesFlag = user.admin && administrators !== undefined && !person.groups.has(administrators);
  const mapped = await (takesFlag ? context.administrators.run(write) : write());
  if (mapped.changes.length > 0) await context.hub.publish([{ kind: EventKind.USER, id: user._id }]);
  return mapped;
}

interface Wanted {
  readonly person: OutsidePerson;
  /** Our groups that the setting names: their ids by the keys of their names. */
  readonly named: ReadonlyMap<string, string>;
}

async function writeGroups(
  context: Needs,
  setting: ProviderSetting,
  { person, named }: Wanted,
  user: UserRecord,
): Promise<MappedUser> {
  const { store } = context;
  const nameOf = new Map([...named].map(([name, id]) => [id, name]));
  const given = [...setting.groups].flatMap(([theirs, ours]) =>
    person.groups.has(theirs) ? (named.get(nameKeyOf(ours)) ?? []) : [],
  );
  let current = user;
  for (let left = TRIES; left > 0; left--) {
    const groups = [...new Set([...current.groups.filter((id) => !nameOf.has(id)), ...given])];
    const { admin, isLastAdministrator } = await administratorOf(context, setting, person, current);
    const changes = changesOf(current, { groups, admin }, nameOf);
    if (changes.length === 0) return { user: current, changes, isLastAdministrator };
    const changed = await change(context, current, { groups, admin });
    if (changed !== undefined) return { user: changed, changes, isLastAdministrator };
    const now = await store.users.findOne({ _id: user._id });
    if (now === null || now.disabled) {
      const said = "Your account was disabled here. Ask an administrator to enable it.";
      throw new SignInRefusedError("user_disabled", said, { subject: person.subject, userId: user._id });
    }
    current = now;
  }
  throw aborted("the groups of this user are being changed by somebody else: try again");
}

/** Our groups that the setting names, by the key of their name. */
async function groupsNamed({ store }: Needs, { id, groups }: ProviderSetting, log: Log): Promise<Map<string, string>> {
  const keys = [...new Set([...groups.values()].map(nameKeyOf))];
  const found = keys.length === 0 ? [] : await store.groups.find({ name_key: { $in: keys } }).toArray();
  const byKey = new Map(found.map(({ name_key, _id }) => [name_key, _id]));
  const missing = keys.filter((key) => !byKey.has(key));
  if (missing.length > 0)
    log.warn({ provider: id, groups: missing }, "SIGN_IN_PROVIDERS maps to groups that do not exist: create them");
  return byKey;
}

/** What a provider makes of the administrator flag; it does not take it from the last one who can sign in without a provider. */
async function administratorOf(
  { store }: Needs,
  { administrators }: ProviderSetting,
  { groups }: OutsidePerson,
  user: UserRecord,
): Promise<{ readonly admin: boolean; readonly isLastAdministrator: boolean }> {
  const wanted = administrators === undefined ? user.admin : groups.has(administrators);
  if (wanted || !user.admin) return { admin: wanted, isLastAdministrator: false };
  const others = { admin: true, disabled: false, _id: { $ne: user._id } };
  const alike = user.password_hash === null ? others : { ...others, password_hash: { $ne: null } };
  const isLastAdministrator = (await store.users.countDocuments(alike, { limit: 1 })) === 0;
  return { admin: isLastAdministrator, isLastAdministrator };
}

/** @returns undefined where the user has changed meanwhile. */
async function change({ store }: Needs, before: UserRecord, to: Change): Promise<UserRecord | undefined> {
  const { _id, groups, admin } = before;
  const changed = await store.users.findOneAndUpdate(
    { _id, groups, admin, disabled: false },
    { $set: { ...to, updated_at: new Date() } },
    { returnDocument: "after" },
  );
  return changed ?? undefined;
}

function changesOf(before: UserRecord, after: Change, nameOf: ReadonlyMap<string, string>): string[] {
  const named = (sign: string, ids: readonly string[]) => ids.map((id) => `${sign}${nameOf.get(id) ?? id}`);
  return [
    ...named(
      "+",
      after.groups.filter((id) => !before.groups.includes(id)),
    ),
    ...named(
      "-",
      before.groups.filter((id) => !after.groups.includes(id)),
    ),
    ...(before.admin === after.admin ? [] : [`admin=${after.admin}`]),
  ];
}
