import { createHash } from "node:crypto";
import { isDuplicateKey } from "../shared/store/store.js";
import type { EmailDomains } from "./email-domains.js";
import { normalEmail } from "./emails.js";
import type { AuthStore, IdentityRecord, UserRecord } from "./store.js";

/** A person as another provider knows them. */
export interface OutsidePerson {
  readonly issuer: string;
  /** Subjects of an issuer for several companies are unique within one of them only. */
  readonly tenant?: string | undefined;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
}

/** Why somebody whom another provider vouches for is nobody here, as a sentence. */
export interface Unlinked {
  readonly unlinked: string;
}

/**
 * The user whom another provider means. A person is known by issuer and
 * subject; the first time, by an e-mail address that the provider has
 * verified, and never by the address again: whoever gets somebody's address
 * later does not get their account.
 */
export async function userOfOutside(
  { identities, users }: Pick<AuthStore, "identities" | "users">,
  person: OutsidePerson,
  domains: EmailDomains,
): Promise<UserRecord | Unlinked> {
  const _id = idOf(person);
  const known = await identities.findOne({ _id });
  const user = known === null ? await byEmail(users, person, domains) : await users.findOne({ _id: known.user_id });
  if (user === null) return { unlinked: "the user whom this identity belonged to was deleted" };
  if ("unlinked" in user) return user;
  if (user.disabled) return { unlinked: "the user is disabled" };
  return known === null ? link(identities, person, user) : user;
}

async function byEmail(
  users: AuthStore["users"],
  { email, emailVerified }: OutsidePerson,
  domains: EmailDomains,
): Promise<UserRecord | Unlinked> {
  if (email === undefined || !emailVerified) {
    return { unlinked: "the identity is not linked to a user, and the provider has not verified its e-mail address" };
  }
  try {
    const login = normalEmail(email);
    domains.checkNew(login);
    const user = await users.findOne({ login, service: false });
    return user ?? { unlinked: "no user has the e-mail address of this identity" };
  } catch {
    return { unlinked: "the e-mail address of this identity is of another domain than EMAIL_DOMAINS" };
  }
}

async function link(
  identities: AuthStore["identities"],
  person: OutsidePerson,
  user: UserRecord,
): Promise<UserRecord | Unlinked> {
  const { issuer, subject, email = "" } = person;
  const _id = idOf(person);
  const other = await identities.findOne({ user_id: user._id, issuer });
  if (other !== null && other._id !== _id) {
    return { unlinked: "the user with this e-mail address is linked to another identity of the same provider" };
  }
  const identity: IdentityRecord = {
    _id,
    ...{ issuer, subject, user_id: user._id, email, linked_at: new Date() },
  };
  try {
    await identities.insertOne(identity);
  } catch (error) {
    // Two requests at once link the same identity; which of them, says the record.
    if (!isDuplicateKey(error)) throw error;
    const first = await identities.findOne({ _id: identity._id });
    if (first?.user_id !== user._id) return { unlinked: "the identity was linked to another user meanwhile" };
  }
  return user;
}

function idOf({ issuer, tenant, subject }: Pick<OutsidePerson, "issuer" | "tenant" | "subject">): string {
  const hash = createHash("sha256").update(issuer).update("\0").update(subject);
  if (tenant !== undefined) hash.update("\0").update(tenant);
  return hash.digest("base64url");
}
