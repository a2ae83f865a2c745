import { createHash } from "node:crypto";
import { isDuplicateKey } from "../shared/store/store.js";
import type { AuthStore, IdentityRecord, UserRecord } from "./store.js";

// A person whom somebody else vouches for is known by issuer and subject. The
// first time they are found by an e-mail address that the issuer has verified,
// and never by the address again: whoever gets somebody's address later does
// not get their account.

/** Whom an issuer means: its subject is the same person for ever. */
export interface OutsideIdentity {
  readonly issuer: string;
  /** Subjects of an issuer for several companies are unique within one of them only. */
  readonly tenant?: string | undefined;
  readonly subject: string;
  /** Kept with the link, for people who read it. */
  readonly email: string | undefined;
}

type Needs = Pick<AuthStore, "identities">;

/** What is known of an identity; null for one that is linked to nobody. */
export function identityOf({ identities }: Needs, identity: OutsideIdentity): Promise<IdentityRecord | null> {
  return identities.findOne({ _id: idOf(identity) });
}

/**
 * Links an identity to a user. The store holds that a user has one subject of
 * an issuer, and a subject one user, however many try at once.
 *
 * @returns false if one of both is linked to another already.
 */
export async function linkIdentity(
  { identities }: Needs,
  identity: OutsideIdentity,
  { _id: user_id }: Pick<UserRecord, "_id">,
): Promise<boolean> {
  const { issuer, subject, email = "" } = identity;
  const _id = idOf(identity);
  try {
    await identities.insertOne({ _id, issuer, subject, user_id, email, linked_at: new Date() });
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return (await identities.findOne({ _id }))?.user_id === user_id;
  }
}

function idOf({ issuer, tenant, subject }: Pick<OutsideIdentity, "issuer" | "tenant" | "subject">): string {
  const hash = createHash("sha256").update(issuer).update("\0").update(subject);
  if (tenant !== undefined) hash.update("\0").update(tenant);
  return hash.digest("base64url");
}
