import { SignInRefusedError } from "./refusal.js";
import type { ProviderSetting } from "./setting.js";

/** Verified claims of a provider about somebody: the values are whatever it wrote there. */
export interface Claims {
  readonly iss: string;
  readonly sub: string;
  readonly [name: string]: unknown;
}

/** Somebody as a provider knows them. */
export interface OutsidePerson {
  readonly issuer: string;
  readonly subject: string;
  /** As the provider writes it; undefined if it gives none. */
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  /** "" if the provider gives none. */
  readonly name: string;
  /** Of the provider; empty if none is mapped. */
  readonly groups: ReadonlySet<string>;
}

/** OpenID Connect Core 1.0, section 2. */
const MAX_SUBJECT = 255;
const MAX_EMAIL = 254;
const MAX_NAME = 200;
const MAX_GROUPS = 5_000;

/**
 * Reads what claims say of somebody.
 *
 * @throws SignInRefusedError not_verified for a subject that is none, groups_unknown for groups that cannot be told.
 */
export function personOf(claims: Claims, setting: ProviderSetting): OutsidePerson {
  const { iss: issuer, sub: subject, email, name } = claims;
  if (subject.length === 0 || subject.length > MAX_SUBJECT) {
    const problem = `${setting.label} sent an answer that cannot be verified. Start again; if it happens again, ask an administrator to read the log.`;
    throw new SignInRefusedError("not_verified", problem, {}, new Error("sub must have 1 to 255 characters"));
  }
  return {
    issuer,
    subject,
    email: typeof email === "string" && email.length <= MAX_EMAIL ? email : undefined,
    emailVerified: claims[setting.emailVerifiedClaim] === true,
    name: typeof name === "string" ? name.replace(/\p{C}/gu, "").trim().slice(0, MAX_NAME) : "",
    groups: setting.groups.size > 0 || setting.administrators !== undefined ? groupsIn(claims, setting) : new Set(),
  };
}

/** No claim means no groups, unless the provider says that they are elsewhere: then nobody's groups are taken away. */
function groupsIn(claims: Claims, { groupsClaim, label }: ProviderSetting): ReadonlySet<string> {
  const value = claims[groupsClaim];
  const unknown = (why: string) =>
    new SignInRefusedError(
      "groups_unknown",
      `${label} did not say which groups you are in, so your rights are not known. Ask an administrator to correct the groups that ${label} sends.`,
      { subject: claims.sub },
      new Error(why),
    );
  if (value === undefined || value === null) {
    const isElsewhere = claims.hasgroups === true || namesOf(claims._claim_names).includes(groupsClaim);
    if (isElsewhere)
      throw unknown(`the person has too many groups for the claim ${groupsClaim}: limit those that the provider sends`);
    return new Set();
  }
  const list = typeof value === "string" ? [value] : value;
  if (!Array.isArray(list) || list.length > MAX_GROUPS || !list.every((one) => typeof one === "string"))
    throw unknown(`the claim ${groupsClaim} must be a list of at most ${MAX_GROUPS} names`);
  return new Set(list);
}

function namesOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
