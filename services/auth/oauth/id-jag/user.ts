import type { EmailDomains } from "../../email-domains.js";
import { normalEmail } from "../../emails.js";
import { identityOf, linkIdentity, type OutsideIdentity } from "../../identities.js";
import type { AuthStore, UserRecord } from "../../store.js";

/** A person whom an assertion names. */
export interface AssertedPerson extends OutsideIdentity {
  readonly emailVerified: boolean;
}

/** Why nobody here is meant, as a sentence. */
export interface Unlinked {
  readonly unlinked: string;
}

/** The user whom an assertion means. */
export async function userOfAssertion(
  store: Pick<AuthStore, "identities" | "users">,
  person: AssertedPerson,
  domains: EmailDomains,
): Promise<UserRecord | Unlinked> {
  const known = await identityOf(store, person);
  const user =
    known === null ? await byEmail(store.users, person, domains) : await store.users.findOne({ _id: known.user_id });
  if (user === null) return { unlinked: "the user whom this identity belonged to was deleted" };
  if ("unlinked" in user) return user;
  if (user.disabled) return { unlinked: "the user is disabled" };
  if (known !== null || (await linkIdentity(store, person, user))) return user;
  return { unlinked: "the user with this e-mail address is linked to another identity of the same provider" };
}

async function byEmail(
  users: AuthStore["users"],
  { email, emailVerified }: AssertedPerson,
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
