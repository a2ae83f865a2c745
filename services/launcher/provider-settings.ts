import { readFileSync } from "node:fs";
import { domainToASCII } from "node:url";
import type { ProviderSetting } from "../auth/federation/setting.js";
import { parsedUrl } from "../shared/parsed-url.js";

const MAX_PROVIDERS = 16;
const MAX_GROUPS = 1_000;
const MAX_TEXT = 1_000;
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** The members of a provider, and what each must be. */
const FIELDS = {
  id: {
    is: textOf(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/),
    must: "be 1 to 32 lower-case letters, digits or hyphens",
  },
  label: { is: textOf(/^\S(?:.{0,58}\S)?$/u), must: "be a text of 1 to 60 characters" },
  issuer: { is: isIssuer, must: "be the https URL of the provider's issuer (http only on a loopback address)" },
  client_id: { is: textOf(/^\S+$/), must: "be a text without white space" },
  client_secret: { is: textOf(/^[\x21-\x7e]+$/), must: "be a text of ASCII characters without white space" },
  client_secret_file: { is: textOf(/./), must: "be the path of a file" },
  scopes: { is: listOf(textOf(/^[\x21\x23-\x5b\x5d-\x7e]+$/), 20), must: "be a list of scopes" },
  email_domains: { is: listOf(isDomain, 100, 1), must: "be a list of at least one domain such as example.org" },
  email_verified_claim: { is: textOf(/./), must: "be the name of a claim" },
  creates_users: { is: (value: unknown) => typeof value === "boolean", must: "be true or false" },
  groups_claim: { is: textOf(/./), must: "be the name of a claim" },
  groups: { is: isMap, must: "be an object of the provider's group names with the names of the service's groups" },
  administrators: { is: textOf(/./), must: "be the name of a group at the provider" },
} as const;
const NEEDED: readonly (keyof typeof FIELDS)[] = ["id", "label", "issuer", "client_id", "email_domains"];

type Given = Readonly<Record<string, unknown>>;

/**
 * Reads the providers of a deployment.
 *
 * @param text a JSON list of objects; docs/sign-in-providers.md has their members.
 * @throws Error that says everything that is wrong, and shows no value.
 */
export function readProviders(text: string): readonly ProviderSetting[] {
  const given = parsed(text);
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_PROVIDERS || !given.every(isObject))
    throw new Error(`must be a JSON list of 1 to ${MAX_PROVIDERS} objects, one a provider`);
  const problems = given.flatMap((one, at) => problemsOf(one).map((problem) => `[${at}].${problem}`));
  for (const name of ["id", "label"])
    if (new Set(given.map((one) => one[name])).size < given.length)
      problems.push(`no two providers may have the same ${name}`);
  if (problems.length > 0) throw new Error(`is wrong: ${problems.join("; ")}`);
  return given.map((one, at) => settingOf(one, `[${at}]`));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words quote the text, which holds secrets.
    throw new Error("must be JSON");
  }
}

function problemsOf(given: Given): string[] {
  const known: Readonly<Record<string, { is: (value: unknown) => boolean; must: string }>> = FIELDS;
  const found = Object.entries(given).flatMap(([name, value]) => {
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    if (field === undefined) return [`${name.slice(0, 50)} is not a member: use ${Object.keys(FIELDS).join(", ")}`];
    return field.is(value) ? [] : [`${name} must ${field.must}`];
  });
  const missing = NEEDED.filter((name) => given[name] === undefined).map((name) => `${name} is missing`);
  const both = given.client_secret !== undefined && given.client_secret_file !== undefined;
  return [...found, ...missing, ...(both ? ["client_secret and client_secret_file exclude each other"] : [])];
}

function settingOf(given: Given, place: string): ProviderSetting {
  const text = (name: string): string | undefined => given[name] as string | undefined;
  const list = (name: string): readonly string[] => (given[name] as string[] | undefined) ?? [];
  return {
    id: text("id") as string,
    label: text("label") as string,
    issuer: text("issuer") as string,
    clientId: text("client_id") as string,
    clientSecret: text("client_secret") ?? secretIn(text("client_secret_file"), place),
    scopes: list("scopes").filter((scope) => scope !== "openid" && scope !== "email"),
    emailDomains: list("email_domains").map(asciiOf),
    emailVerifiedClaim: text("email_verified_claim") ?? "email_verified",
    createsUsers: given.creates_users === true,
    groupsClaim: text("groups_claim") ?? "groups",
    groups: new Map(Object.entries((given.groups as Record<string, string> | undefined) ?? {})),
    administrators: text("administrators"),
  };
}

function secretIn(path: string | undefined, place: string): string | undefined {
  if (path === undefined) return undefined;
  let secret: string;
  try {
    secret = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new Error(`is wrong: ${place}.client_secret_file cannot be read: ${(error as Error).message}`);
  }
  if (FIELDS.client_secret.is(secret)) return secret;
  throw new Error(`is wrong: the file of ${place}.client_secret_file must hold the secret alone, in ASCII`);
}

function isObject(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(pattern: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === "string" && value.length <= MAX_TEXT && pattern.test(value);
}

function listOf(is: (value: unknown) => boolean, most: number, least = 0): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.length >= least && value.length <= most && value.every(is);
}

function isIssuer(value: unknown): boolean {
  const url = textOf(/^https?:\/\/[\x21-\x7e]+$/)(value) ? parsedUrl(value as string) : undefined;
  if (url === undefined) return false;
  const { protocol, hostname, username, password, search, hash } = url;
  const isWhole = username + password + search + hash === "" && !/[?#]/.test(value as string);
  return isWhole && (protocol === "https:" || LOOPBACK.has(hostname));
}

function isDomain(value: unknown): boolean {
  return textOf(/^[^@\s]+$/)(value) && /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(asciiOf(value as string));
}

function asciiOf(domain: string): string {
  return domainToASCII(domain.toLowerCase());
}

function isMap(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isName = textOf(/\S/);
  const entries = Object.entries(value);
  return entries.length <= MAX_GROUPS && entries.every(([theirs, ours]) => isName(theirs) && isName(ours));
}
