import { decodeProtectedHeader, type JWTVerifyGetKey, jwtVerify } from "jose";
import type { ExternalSetting } from "../../shared/credentials/external-setting.js";
import type { OutsidePerson } from "../federation/person.js";
import { PROFILES, type Profile, type TokenClaims } from "./profiles.js";

/** An authorization server of others, and its keys. */
export interface ExternalIssuer
  extends Pick<
    ExternalSetting,
    "issuer" | "vendor" | "algorithms" | "audiences" | "emailClaim" | "emailVerifiedClaim" | "maxLifeS"
  > {
  readonly keys: JWTVerifyGetKey;
}

/** What an access token says, once it is verified. */
export interface ExternalToken {
  /** For the link to a user; groups are not read of access tokens. */
  readonly person: OutsidePerson;
  /** The MCP server that it is for. */
  readonly server: string;
  readonly clientId: string;
  /** As the authorization server names them. */
  readonly scopes: readonly string[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** Why a token is not taken, as a sentence for whoever configures the authorization server. */
export class ExternalTokenError extends Error {}

/** Verifies access tokens of an authorization server of others. */
export interface ExternalTokens {
  /** @throws ExternalTokenError for a token that is not good here, or what the keys throw if they cannot be read. */
  verify(token: string): Promise<ExternalToken>;
}

const TOLERANCE_S = 30;
const MAX_SUBJECT = 255;
const MAX_CLIENT = 2_000;
const MAX_NAME = 200;
const MAX_SCOPES = 100;

/** @param endpoints the MCP servers with their URLs. */
export function createExternalTokens(
  from: ExternalIssuer,
  endpoints: readonly { readonly server: string; readonly url: string }[],
): ExternalTokens {
  const profile: Profile = PROFILES[from.vendor];
  const servers = [...new Set(endpoints.map(({ server }) => server))];
  const audiencesOf = (server: string): string[] => [
    ...endpoints.filter((one) => one.server === server).map(({ url }) => url),
    ...(from.audiences.get(server) ?? []),
  ];
  const all = servers.flatMap(audiencesOf);

  return {
    async verify(token) {
      checkType(token, profile);
      const claims = await signedClaims(token, from, all);
      const reason = profile.refusalOf(claims) ?? commonRefusalOf(claims, from);
      if (reason !== undefined) throw refused(reason);
      // A list may name others' resources beside ours; one that names two of ours is good at neither.
      const named = new Set([claims.aud ?? []].flat());
      const [server, ...more] = servers.filter((one) => audiencesOf(one).some((audience) => named.has(audience)));
      if (server === undefined || more.length > 0)
        throw refused(`it is for several servers: ${[server, ...more].join(", ")}`);
      const subject = profile.subjectOf(claims) ?? "";
      if (subject === "" || subject.length > MAX_SUBJECT) throw refused("it does not say for whom it is");
      const clientId = profile.client.map((name) => claims[name]).find((one) => typeof one === "string" && one !== "");
      if (typeof clientId !== "string" || clientId.length > MAX_CLIENT)
        throw refused(`it does not name its client in ${profile.client.join(" or ")}`);
      return {
        person: personOf(claims, from, subject),
        server,
        clientId,
        scopes: scopesOf(profile.scope.map((name) => claims[name]).find((one) => one !== undefined)),
        issuedAt: new Date((claims.iat as number) * 1_000),
        expiresAt: new Date((claims.exp as number) * 1_000),
      };
    },
  };
}

function checkType(token: string, { types }: Profile): void {
  let type: unknown;
  try {
    type = decodeProtectedHeader(token).typ;
  } catch {
    throw refused("it is not a JWT");
  }
  const plain = String(type)
    .toLowerCase()
    .replace(/^application\//, "");
  if (!types.includes(plain)) throw refused(`its typ is not one of ${types.join(", ")}`);
}

async function signedClaims(
  token: string,
  { issuer, algorithms, keys }: ExternalIssuer,
  audience: string[],
): Promise<TokenClaims> {
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

function personOf(
  claims: TokenClaims,
  { issuer, emailClaim, emailVerifiedClaim }: ExternalIssuer,
  subject: string,
): OutsidePerson {
  const { [emailClaim]: email, name } = claims;
  return {
    issuer,
    subject,
    email: typeof email === "string" && email.length <= MAX_SUBJECT ? email : undefined,
    emailVerified: claims[emailVerifiedClaim] === true,
    name: typeof name === "string" ? name.replace(/\p{C}/gu, "").trim().slice(0, MAX_NAME) : "",
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
