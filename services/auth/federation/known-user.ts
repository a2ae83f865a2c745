import { v7 as uuidv7 } from "uuid";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { normalEmail } from "../emails.js";
import { identityOf, linkIdentity } from "../identities.js";
import { emailOf } from "../identity.js";
import type { UserRecord } from "../store.js";
import type { OutsidePerson } from "./person.js";
import { SignInRefusedError } from "./refusal.js";
import type { ProviderSetting } from "./setting.js";

/** The user whom a provider means, and what was done so that it is known. */
export interface KnownUser {
  readonly user: UserRecord;
  readonly done: "nothing" | "linked" | "created";
}

/** What a provider decides on. */
type Deciding = Pick<ProviderSetting, "label" | "emailDomains" | "createsUsers">;
type Needs = Pick<Context, "store" | "emailDomains">;

/**
 * The user whom a provider means. A person is known by issuer and subject. Only
 * the first time they are found by their e-mail address, which the provider
 * must have verified: whoever gets somebody's address later does not get their
 * account. What is refused has changed nothing.
 *
 * @throws SignInRefusedError that says why nobody is meant.
 */
export async function knownUserOf(context: Needs, person: OutsidePerson, setting: Deciding): Promise<KnownUser> {
  const known = await identityOf(context.store, person);
  if (known === null) return userByEmail(context, person, setting);
  const user = await context.store.users.findOne({ _id: known.user_id });
  if (user === null) {
    const said = "Your account was deleted here. Ask an administrator to create another one for you.";
    throw new SignInRefusedError("user_deleted", said, aboutOf(person));
  }
  checkUser(user, person);
  return { user, done: "nothing" };
}

async function userByEmail(context: Needs, person: OutsidePerson, setting: Deciding): Promise<KnownUser> {
  const { users } = context.store;
  const login = verifiedEmailOf(context, person, setting);
  const found = await users.findOne({ login });
  if (found !== null) {
    checkUser(found, person);
    return { user: await link(context, person, found), done: "linked" };
  }
  if (!setting.createsUsers) {
    const said = `Nobody here has the e-mail address ${login}. Ask an administrator to create your account.`;
    throw new SignInRefusedError("no_user", said, { ...aboutOf(person), email: login });
  }
  const created = newUser(login, person.name);
  try {
    await users.insertOne(created);
  } catch (error) {
    // Somebody else made the same user meanwhile.
    if (isDuplicateKey(error)) return userByEmail(context, person, { ...setting, createsUsers: false });
    throw error;
  }
  return { user: await link(context, person, created), done: "created" };
}

/** @throws SignInRefusedError for an address that proves nothing, or that this provider does not decide on. */
function verifiedEmailOf({ emailDomains }: Needs, person: OutsidePerson, { label, ...setting }: Deciding): string {
  const about = aboutOf(person);
  if (person.email === undefined || !person.emailVerified) {
    const said = `${label} has not verified your e-mail address, so your account cannot be found. Verify it there and start again, or ask an administrator.`;
    throw new SignInRefusedError("email_not_verified", said, about);
  }
  const other = `Your e-mail address at ${label} is not of a domain that may sign in here. Ask an administrator.`;
  try {
    const login = normalEmail(person.email);
    emailDomains.checkNew(login);
    if (setting.emailDomains.includes(login.slice(login.lastIndexOf("@") + 1))) return login;
  } catch (error) {
    throw new SignInRefusedError("email_of_other_domain", other, about, error);
  }
  throw new SignInRefusedError("email_of_other_domain", other, about);
}

function checkUser(user: UserRecord, person: OutsidePerson): void {
  const about = { ...aboutOf(person), userId: user._id, email: emailOf(user) };
  if (user.service)
    throw new SignInRefusedError(
      "service_account",
      "This is the account of a program, which nobody signs in to.",
      about,
    );
  if (user.disabled)
    throw new SignInRefusedError(
      "user_disabled",
      "Your account is disabled here. Ask an administrator to enable it.",
      about,
    );
}

async function link({ store }: Needs, person: OutsidePerson, user: UserRecord): Promise<UserRecord> {
  if (await linkIdentity(store, person, user)) return user;
  const said =
    "Your account here belongs to somebody else at this provider, who had your e-mail address before. Ask an administrator.";
  throw new SignInRefusedError("linked_to_another", said, {
    ...{ ...aboutOf(person), userId: user._id, email: emailOf(user) },
  });
}

function newUser(login: string, name: string): UserRecord {
  const now = new Date();
  return {
    _id: uuidv7(),
    login,
    name: name || login.slice(0, login.indexOf("@")),
    admin: false,
    disabled: false,
    groups: [],
    email_verified: true,
    service: false,
    password_hash: null,
    created_at: now,
    updated_at: now,
  };
}

function aboutOf({ subject, email, emailVerified }: OutsidePerson): {
  readonly subject: string;
  readonly email: string;
} {
  return { subject, email: emailVerified ? (email ?? "") : "" };
}
