import type { ActGrant } from "#proto/auth/v1/service_account_service_pb.js";
import type { Caller } from "../../shared/rpc/call.js";
import { invalidArgument, unauthenticated } from "../../shared/rpc/errors.js";
import { nameKeyOf } from "../group-records.js";
import { callerOf } from "../identity.js";
import { findUser } from "../records.js";
import { scopesOf } from "../scopes.js";
import type { AccountGrant, AuthStore, UserRecord } from "../store.js";
import type { KeyVerification } from "../verification.js";

type Grant = Pick<AccountGrant, "act_users" | "act_groups">;

/**
 * Whom a service account may act for, by id.
 *
 * @throws ConnectError not_found or invalid_argument, where a user or group is not there, or is no person.
 */
export async function grantOf(store: AuthStore, act: ActGrant | undefined): Promise<Grant> {
  const users = new Set<string>();
  for (const name of act?.users ?? []) {
    const user = await (name.includes("@") ? findUser(store, "", name) : findUser(store, name, ""));
    if (user.service) throw invalidArgument(`act.users: ${name} is a service account, and not a person`);
    users.add(user._id);
  }
  const groups = new Set<string>();
  for (const name of act?.groups ?? []) {
    const found =
      (await store.groups.findOne({ _id: name })) ?? (await store.groups.findOne({ name_key: nameKeyOf(name) }));
    if (found === null) throw invalidArgument(`act.groups: there is no group ${JSON.stringify(name)}`);
    groups.add(found._id);
  }
  return { act_users: [...users], act_groups: [...groups] };
}

/** Whether the grant of a service account names a person, or a group of that person. */
export function mayActFor({ account }: UserRecord, user: UserRecord): boolean {
  if (account === undefined || user.service) return false;
  return account.act_users.includes(user._id) || user.groups.some((id) => account.act_groups.includes(id));
}

/**
 * The caller that a service account is as the records stand now: itself, or a user whom it acts for, with what both
 * have. An administrator's rights are never among that: a group's grant would give them with its next member.
 *
 * @throws ConnectError unauthenticated, where the account or the user is no longer good, or the grant is gone.
 */
export async function accountCallerNow(
  accountId: string,
  userId: string,
  verification: Pick<KeyVerification, "currentUser">,
): Promise<{ readonly caller: Caller; readonly seq: number }> {
  const self = await verification.currentUser(accountId);
  if ("refused" in self || self.user.account === undefined)
    throw unauthenticated("the service account is disabled or deleted: ask an administrator to enable or create it");
  const own = callerOf(self.user, scopesOf(self.user), "");
  if (userId === accountId) return { caller: own, seq: self.seq };
  const other = await verification.currentUser(userId);
  if ("refused" in other)
    throw unauthenticated("the user whom the service account acts for is disabled or deleted: ask an administrator");
  if (!mayActFor(self.user, other.user)) throw unauthenticated(notGranted(self.user.login));
  const scopes = new Set([...scopesOf(other.user)].filter((scope) => own.scopes.has(scope)));
  const caller = { ...callerOf(other.user, scopes, ""), account: own.account as NonNullable<Caller["account"]> };
  return { caller, seq: Math.min(self.seq, other.seq) };
}

/** The same words for a user who is not there: nobody learns who is. */
export function notGranted(name: string): string {
  return `${name} may not act for this user: ask an administrator to grant it the user or a group of the user (service-accounts update)`;
}
