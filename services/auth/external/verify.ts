import { decodeJwt, decodeProtectedHeader, type JWTVerifyGetKey, jwtVerify } from "jose";
import type { OutsidePerson } from "../federation/person.js";
import { PROFILES, type Profile, type ProfileName, type TokenClaims } from "./profiles.js";

/** An authorization server of others whose access tokens are taken. */
export interface ExternalIssuer {
  /** As its tokens spell it, letter for letter. */
  readonly issuer: string;
  readonly profile: ProfileName;
  readonly algorithms: readonly string[];
  readonly keys: JWTVerifyGetKey;
  /** Further audiences by MCP server, such as the ids of applications; each server's URL is one always. */
  readonly audiences: ReadonlyMap<string, readonly string[]>;
  /** How long a token may live, in seconds: until then nobody can revoke it. */
  readonly maxLifeS: number;
}

/** What an access token says, once it is verified. */
export interface ExternalToken {
  /** For the link to a user; groups are not read of access tokens. */
  readonly person: OutsidePerson;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
}

/** Why a token is not taken, as a sentence for whoever configures the authorization server. */
export class ExternalTokenError extends Error {}

/** Verifies access tokens of authorization servers of others. */
export interface ExternalTokens {
  /**
   * @param server the MCP server that the token came to.
   * @throws ExternalTokenError for a token that is not good there, or an error of the network where keys cannot be had.
   */
  verify(token: string, server: string): Promise<ExternalToken>;
}

/** Longest token, in characters: some have the groups of a person. */
const MAX_LENGTH = 16_384;
const TOLERANCE_S = 30;
const MAX_SUBJECT = 255;
const MAX_SCOPES = 100;

/** @param endpoints the URL of each MCP server. */
export function createExternalTokens(
  issuers: readonly ExternalIssuer[],
  endpoints: ReadonlyMap<string, string>,
): ExternalTokens {
  const byIssuer = new Map(issuers.map((one) => [one.issuer, one]));
  const audiencesOf = ({ audiences }: ExternalIssuer, server: string): string[] => {
    const url = endpoints.get(server);
    return url === undefined ? [] : [url, ...(audiences.get(server) ?? [])];
  };

  return {
    async verify(token, server) {
      const found = issuerOf(token, byIssuer);
      const profile: Profile = PROFILES[found.profile];
      const claims = await signedClaims(token, found, audiencesOf(found, server));
      const reason = profile.refusalOf(claims) ?? commonRefusalOf(claims, found);
      if (reason !== undefined) throw refused(reason);
      // A list may name others' resources beside ours; one that names two of ours is good at neither.
      const named = new Set([claims.aud ?? []].flat());
      const ours = [...endpoints.keys()].filter((one) =>
        audiencesOf(found, one).some((audience) => named.has(audience)),
      );
      if (ours.length !== 1) throw refused(`it is for several servers: ${ours.join(", ")}`);
      const subject = profile.subjectOf(claims) ?? "";
      if (subject === "" || subject.length > MAX_SUBJECT) throw refused("it does not say for whom it is");
      const clientId = profile.client.map((name) => claims[name]).find((one) => typeof one === "string" && one !== "");
      if (clientId === undefined) throw refused(`it does not name its client in ${profile.client.join(" or ")}`);
      return {
        person: personOf(claims, found.issuer, subject),
        clientId: clientId as string,
        scopes: scopesOf(profile.scope.map((name) => claims[name]).find((one) => one !== undefined)),
        expiresAt: new Date((claims.exp as number) * 1_000),
      };
    },
  };
}

function issuerOf(token: string, byIssuer: ReadonlyMap<string, ExternalIssuer>): ExternalIssuer {
  if (token.length > MAX_LENGTH) throw refused("it is too long");
  let issuer: unknown;
  let type: unknown;
  try {
    issuer = decodeJwt(token).iss;
    type = decodeProtectedHeader(token).typ;
  } catch {
    throw refused("it is not a JWT");
  }
  const found = byIssuer.get(String(issuer));
  if (found === undefined) throw refused("its issuer is not configured");
  const plain = String(type)
    .toLowerCase()
    .replace(/^application\//, "");
  const { types }: Profile = PROFILES[found.profile];
  if (!types.includes(plain)) throw refused(`its typ is not one of ${types.join(", ")}`);
  return found;
}

async function signedClaims(
  token: string,
  { issuer, algorithms, keys }: ExternalIssuer,
  audience: string[],
): Promise<TokenClaims> {
  if (audience.length === 0) throw refused("there is no such server");
  try {
    const { payload } = await jwtVerify(token, keys, {
      ...{ issuer, audience, algorithms: [...algorithms], clockTolerance: TOLERANCE_S },
      requiredClaims: ["exp", "iat", "aud"],
    });
    return payload;
  } catch (error) {
    // What the library says of the token; the rest is the network's, or the key set's.
    if (/^ERR_(?:JWT|JWS|JOSE_ALG|JOSE_NOT|JWKS_NO|JWKS_MULTIPLE)_/.test(String((error as { code?: unknown }).code)))
      throw refused((error as Error).message, error);
    throw error;
  }
}

function commonRefusalOf({ exp = 0, iat = 0, cnf }: TokenClaims, { maxLifeS }: ExternalIssuer): string | undefined {
  if (cnf !== undefined) return "it is bound to a key of the client (cnf), which is not checked here";
  if (exp - iat > maxLifeS)
    return `it may live ${maxLifeS} seconds at most: shorten the lifetime at the authorization server`;
  return iat > Date.now() / 1_000 + TOLERANCE_S ? "it is issued in the future" : undefined;
}

function personOf({ email, email_verified }: TokenClaims, issuer: string, subject: string): OutsidePerson {
  return {
    issuer,
    subject,
    email: typeof email === "string" && email.length <= MAX_SUBJECT ? email : undefined,
    emailVerified: email_verified === true,
    name: "",
    groups: new Set(),
  };
}

function scopesOf(value: unknown): string[] {
  const words = typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  const scopes = words.filter((one): one is string => typeof one === "string" && one !== "");
  if (scopes.length > MAX_SCOPES) throw refused(`it has more than ${MAX_SCOPES} scopes`);
  return scopes;
}

function refused(reason: string, cause?: unknown): ExternalTokenError {
  return new ExternalTokenError(`the access token is not accepted: ${reason}`, { cause });
}
