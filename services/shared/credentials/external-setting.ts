import { parsedUrl } from "../parsed-url.js";
import { SERVERS, scopesOfServer } from "../platforms.js";

/** Vendors whose access tokens are read; `rfc9068` is any server that follows that RFC. */
export const VENDORS = ["rfc9068", "keycloak", "auth0", "entra", "okta"] as const;

/** One of them. */
export type Vendor = (typeof VENDORS)[number];

/** An authorization server of others whose access tokens are taken, and ours not. */
export interface ExternalSetting {
  /** As its tokens spell it, letter for letter. */
  readonly issuer: string;
  readonly vendor: Vendor;
  /** Signatures that are accepted: none that a public key makes. */
  readonly algorithms: readonly string[];
  /** Further audiences by MCP server, such as the ids of applications; each server's URL is one always. */
  readonly audiences: ReadonlyMap<string, readonly string[]>;
  /** Scopes of others, and those of ours that each gives; ours give themselves. */
  readonly scopes: ReadonlyMap<string, readonly string[]>;
  /** Domains of addresses by which people are linked or created, in lower case; none includes its subdomains. */
  readonly emailDomains: readonly string[];
  readonly emailClaim: string;
  /** The claim that says, by `true`, that the address is verified. */
  readonly emailVerifiedClaim: string;
  /** Whether somebody who has no user yet gets one. */
  readonly createsUsers: boolean;
  /** How long a token may live, in seconds: until then the authorization server cannot take it back. */
  readonly maxLifeS: number;
}

const ALGORITHMS: readonly string[] = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];
const MAX_TEXT = 16_384;
const MAX_LIST = 100;
const MAX_LIFE_S = 86_400;
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);
const OURS: readonly string[] = SERVERS.flatMap(scopesOfServer);

type Given = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === "string" && /^\S{1,1000}$/.test(value);
const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.length <= MAX_LIST && value.every(isText);
const isListBy = (isKey: (key: string) => boolean, isOne: (value: string) => boolean) => (value: unknown) =>
  isObject(value) &&
  Object.keys(value).length <= MAX_LIST &&
  Object.entries(value).every(([key, list]) => isKey(key) && isTexts(list) && (list as string[]).every(isOne));

/** The members, and what each must be. */
const MEMBERS: Readonly<Record<string, { readonly is: (value: unknown) => boolean; readonly must: string }>> = {
  issuer: { is: isIssuer, must: "be the https URL of the issuer (http only on a loopback address)" },
  vendor: { is: (value) => VENDORS.some((one) => one === value), must: `be ${VENDORS.join(", ")}` },
  algorithms: {
    is: (value) => isTexts(value) && (value as string[]).every((one) => ALGORITHMS.includes(one)),
    must: `be a list of ${ALGORITHMS.join(", ")}`,
  },
  audiences: {
    is: isListBy((server) => SERVERS.some((one) => one === server), isText),
    must: `be an object of ${SERVERS.join(", ")}, each with a list of audiences`,
  },
  scopes: {
    is: isListBy(isText, (scope) => OURS.includes(scope)),
    must: `be an object of the server's scopes, each with a list of ${OURS.join(", ")}`,
  },
  email_domains: {
    is: (value) => isTexts(value) && (value as string[]).every((one) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(one)),
    must: "be a list of domains in lower case such as example.org",
  },
  email_claim: { is: isText, must: "be the name of a claim" },
  email_verified_claim: { is: isText, must: "be the name of a claim" },
  creates_users: { is: (value) => typeof value === "boolean", must: "be true or false" },
  max_life_seconds: {
    is: (value) => Number.isInteger(value) && Number(value) >= 60 && Number(value) <= MAX_LIFE_S,
    must: `be a whole number from 60 to ${MAX_LIFE_S}`,
  },
};
const NEEDED = ["issuer", "vendor", "email_domains"] as const;

/** Checks the setting and leaves it as it is written: processes pass it on. @throws Error that says everything that is wrong. */
export function checkedExternal(text: string): string {
  readExternal(text);
  return text;
}

/**
 * Reads the setting.
 *
 * @param text a JSON object; docs/external-authorization-server.md has its members.
 * @throws Error that says everything that is wrong.
 */
export function readExternal(text: string): ExternalSetting {
  const given = parsed(text);
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(MEMBERS, name));
  const problems = [
    ...unknown.map((name) => `${name.slice(0, 50)} is not a member: use ${Object.keys(MEMBERS).join(", ")}`),
    ...NEEDED.filter((name) => given[name] === undefined).map((name) => `${name} is missing`),
    ...Object.entries(MEMBERS)
      .filter(([name, { is }]) => given[name] !== undefined && !is(given[name]))
      .map(([name, { must }]) => `${name} must ${must}`),
  ];
  if (problems.length > 0) throw new Error(`is wrong: ${problems.join("; ")}`);
  const listsOf = (name: string) =>
    new Map(Object.entries((given[name] as Record<string, string[]> | undefined) ?? {}));
  return {
    issuer: given.issuer as string,
    vendor: given.vendor as Vendor,
    algorithms: (given.algorithms as string[] | undefined) ?? ["RS256"],
    audiences: listsOf("audiences"),
    scopes: listsOf("scopes"),
    emailDomains: given.email_domains as string[],
    emailClaim: (given.email_claim as string | undefined) ?? "email",
    emailVerifiedClaim: (given.email_verified_claim as string | undefined) ?? "email_verified",
    createsUsers: given.creates_users === true,
    maxLifeS: (given.max_life_seconds as number | undefined) ?? 3_600,
  };
}

function parsed(text: string): Given {
  let given: unknown;
  try {
    if (text.length <= MAX_TEXT) given = JSON.parse(text);
  } catch {
    // Below.
  }
  if (isObject(given)) return given;
  throw new Error(`must be a JSON object of at most ${MAX_TEXT} characters`);
}

function isObject(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isIssuer(value: unknown): boolean {
  const url = isText(value) && !/[?#]/.test(value) ? parsedUrl(value) : undefined;
  if (url === undefined) return false;
  const { protocol, hostname, username, password } = url;
  return username + password === "" && (protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname)));
}
