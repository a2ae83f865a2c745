import { createHash } from "node:crypto";
import { decodeJwt, type JWTPayload, jwtVerify } from "jose";
import { isDuplicateKey } from "../../../shared/store/store.js";
import type { AuthStore } from "../../store.js";
import type { Resource, Resources } from "../resources.js";
import { type Issuer, IssuerUnavailable } from "./issuers.js";

// An Identity Assertion JWT Authorization Grant (ID-JAG): the company's identity
// provider says that a person may use a client with one resource
// (draft-ietf-oauth-identity-assertion-authz-grant; MCP extension
// io.modelcontextprotocol/enterprise-managed-authorization).

/** What an assertion says, once it is verified. */
export interface VerifiedAssertion {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly resource: Resource;
  /** What the provider lets the client ask for; undefined for whatever there is. */
  readonly scopes: readonly string[] | undefined;
}

/** Why an assertion is not accepted, as a sentence for whoever configures the provider. */
export class AssertionError extends Error {}

/** What an assertion is held against. */
export interface VerifyOptions {
  readonly issuers: ReadonlyMap<string, Issuer>;
  /** Our issuer: whom the assertion is for. */
  readonly audience: string;
  /** The client that presents it, authenticated. */
  readonly clientId: string;
  readonly resources: Resources;
  readonly store: Pick<AuthStore, "usedAssertions">;
}

const TYPE = "oauth-id-jag+jwt";
/** Longest assertion, in characters. */
const MAX_LENGTH = 8_192;
const TOLERANCE_S = 30;
/** An assertion is exchanged at once: the draft asks for minutes. */
const MAX_LIFE_S = 600;

interface Claims extends JWTPayload {
  readonly client_id?: unknown;
  readonly resource?: unknown;
  readonly scope?: unknown;
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/**
 * Verifies an assertion and uses it up.
 *
 * @throws AssertionError for what is wrong with it, IssuerUnavailable if the keys of its issuer cannot be read.
 */
export async function verifyIdJag(assertion: string, options: VerifyOptions): Promise<VerifiedAssertion> {
  const { audience, clientId, resources, store } = options;
  const claims = await signedClaims(assertion, options);
  const { iss, sub, exp, iat, jti } = claims as Required<JWTPayload>;
  if (claims.aud !== audience && !(Array.isArray(claims.aud) && claims.aud.length === 1)) {
    throw new AssertionError(`aud must be ${audience} alone`);
  }
  if (exp - iat > MAX_LIFE_S) throw new AssertionError(`the assertion may live ${MAX_LIFE_S} seconds at most`);
  if (claims.client_id !== clientId)
    throw new AssertionError("client_id is not the client that presents the assertion");
  const resource = typeof claims.resource === "string" ? resources.of(claims.resource) : undefined;
  if (resource === undefined) throw new AssertionError("resource must be the URL of one MCP server of this service");
  // The last: what is refused for another reason may be presented again once that is corrected.
  await useUp(store, `${iss}\0${jti}`, exp);
  return {
    issuer: iss,
    subject: sub,
    email: typeof claims.email === "string" ? claims.email : undefined,
    emailVerified: claims.email_verified === true,
    resource,
    scopes: typeof claims.scope === "string" ? claims.scope.split(" ").filter((one) => one !== "") : undefined,
  };
}

async function signedClaims(assertion: string, { issuers, audience }: VerifyOptions): Promise<Claims> {
  if (assertion.length > MAX_LENGTH) throw new AssertionError("the assertion is too long");
  let issuer: Issuer | undefined;
  try {
    issuer = issuers.get(String(decodeJwt(assertion).iss));
  } catch {
    throw new AssertionError("the assertion is no JWT");
  }
  if (issuer === undefined) throw new AssertionError("its issuer is not listed in ID_JAG_ISSUERS");
  try {
    const { payload } = await jwtVerify<Claims>(assertion, issuer.keys, {
      issuer: issuer.url,
      audience,
      algorithms: [...issuer.algorithms],
      typ: TYPE,
      requiredClaims: ["iss", "sub", "aud", "exp", "iat", "jti", "client_id", "resource"],
      clockTolerance: TOLERANCE_S,
      maxTokenAge: MAX_LIFE_S,
    });
    if (typeof payload.jti !== "string" || payload.jti === "") throw new Error("jti must be a text");
    return payload;
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw error;
    throw new AssertionError(`the assertion is not valid: ${(error as Error).message}`);
  }
}

async function useUp({ usedAssertions }: VerifyOptions["store"], id: string, exp: number): Promise<void> {
  const _id = createHash("sha256").update("id-jag\0").update(id).digest("base64url");
  try {
    await usedAssertions.insertOne({ _id, expires_at: new Date((exp + 2 * TOLERANCE_S) * 1_000) });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new AssertionError("the assertion was used before: get another one");
  }
}
