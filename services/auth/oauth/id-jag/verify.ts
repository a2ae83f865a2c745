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
  /** What it is known by when it comes again. */
  readonly id: string;
  /** When it is refused for its times. */
  readonly until: Date;
  readonly issuer: string;
  /** The tenant, of an issuer that issues for several. */
  readonly tenant: string | undefined;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly resource: Resource;
  /** What the provider lets the client ask for; undefined for whatever there is. */
  readonly scopes: readonly string[] | undefined;
}

/** Why an assertion is not accepted, as a sentence for whoever configures the provider. */
export class AssertionError extends Error {
  constructor(
    message: string,
    /** As the token endpoint names it (RFC 6749 section 5.2, RFC 8707 section 2). */
    readonly code: "invalid_grant" | "invalid_target" = "invalid_grant",
  ) {
    super(message);
  }
}

/** What an assertion is held against. */
export interface VerifyOptions {
  readonly issuers: ReadonlyMap<string, Issuer>;
  /** Our issuer: whom the assertion is for. */
  readonly audience: string;
  /** The client that presents it, authenticated. */
  readonly clientId: string;
  /** The parameter `resource` of the request, if it has one. */
  readonly asked: unknown;
  readonly resources: Resources;
}

const TYPE = "oauth-id-jag+jwt";
/** Longest assertion, in characters. */
const MAX_LENGTH = 8_192;
const TOLERANCE_S = 30;
/** An assertion is exchanged soon after its issue, however long it lives: until then it is kept as used. */
const MAX_AGE_S = 600;
/** The extension's own example lives an hour; RFC 7523 section 3 leaves what is unreasonable to us. */
const MAX_LIFE_S = 3_600;

interface Claims extends JWTPayload {
  readonly client_id?: unknown;
  readonly resource?: unknown;
  readonly scope?: unknown;
  readonly tenant?: unknown;
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/**
 * Verifies an assertion. It is not used up by that: see useUp.
 *
 * @throws AssertionError for what is wrong with it, IssuerUnavailable if the keys of its issuer cannot be read.
 */
export async function verifyIdJag(assertion: string, options: VerifyOptions): Promise<VerifiedAssertion> {
  const { audience, clientId, resources, asked } = options;
  const { claims, tenant } = await signedClaims(assertion, options);
  const { iss, sub, exp, iat, jti } = claims as Required<JWTPayload>;
  if (claims.aud !== audience && !(Array.isArray(claims.aud) && claims.aud.length === 1)) {
    throw new AssertionError(`aud must be ${audience} alone`);
  }
  if (exp - iat > MAX_LIFE_S) throw new AssertionError(`the assertion may live ${MAX_LIFE_S} seconds at most`);
  if (claims.client_id !== clientId)
    throw new AssertionError("client_id is not the client that presents the assertion");
  refuseLimits(claims);
  return {
    id: `${iss}\0${jti}`,
    until: new Date((Math.min(exp, iat + MAX_AGE_S) + 2 * TOLERANCE_S) * 1_000),
    issuer: iss,
    tenant,
    subject: sub,
    email: typeof claims.email === "string" ? claims.email : undefined,
    emailVerified: claims.email_verified === true,
    resource: resourceOf(claims.resource, asked, resources),
    scopes: typeof claims.scope === "string" ? claims.scope.split(" ").filter((one) => one !== "") : undefined,
  };
}

/** Refuses what would limit the token in a way that is not kept here: without the limit it would be worth more than was said. */
function refuseLimits(claims: Claims): void {
  if (claims.scope !== undefined && typeof claims.scope !== "string") {
    throw new AssertionError("scope must be a text, with spaces between the scopes");
  }
  if (claims.cnf !== undefined) {
    throw new AssertionError("cnf binds the assertion to a key, and no proof of a key is taken here: issue it without");
  }
  if (claims.authorization_details !== undefined) {
    throw new AssertionError("authorization_details of no type are known here: issue the assertion with scopes");
  }
}

/** The endpoint that the assertion is for; of several, the one that the request names (RFC 8707 section 2.2). */
function resourceOf(claim: unknown, asked: unknown, resources: Resources): Resource {
  const urls: unknown[] = Array.isArray(claim) ? claim : [claim];
  const ours = new Set(urls.map((url) => (typeof url === "string" ? resources.of(url) : undefined)));
  ours.delete(undefined);
  const wanted = typeof asked === "string" ? resources.of(asked) : undefined;
  const [first, second] = asked === undefined ? ours : [...ours].filter((one) => one === wanted);
  if (first !== undefined && second === undefined) return first;
  const why =
    second !== undefined
      ? "resource of the assertion names several MCP servers: name one of them in the request"
      : ours.size === 0
        ? "resource of the assertion must be the URL of an MCP server of this service"
        : "resource of the request is another than that of the assertion";
  throw new AssertionError(why, "invalid_target");
}

interface Signed {
  readonly claims: Claims;
  readonly tenant: string | undefined;
}

async function signedClaims(assertion: string, { issuers, audience }: VerifyOptions): Promise<Signed> {
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
      maxTokenAge: MAX_AGE_S,
    });
    // The library leaves the types of these two to us.
    for (const name of ["jti", "sub"] as const) {
      if (typeof payload[name] !== "string" || payload[name] === "") throw new Error(`${name} must be a text`);
    }
    if (payload.tenant !== issuer.tenant) {
      throw new Error("tenant is another than ID_JAG_ISSUERS lists for the issuer");
    }
    return { claims: payload, tenant: issuer.tenant };
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw error;
    throw new AssertionError(`the assertion is not valid: ${(error as Error).message}`);
  }
}

/**
 * Uses an assertion up, before anything is written for it.
 *
 * @throws AssertionError if it was used before.
 */
export async function useUp(
  { usedAssertions }: Pick<AuthStore, "usedAssertions">,
  { id, until }: Pick<VerifiedAssertion, "id" | "until">,
): Promise<void> {
  const _id = createHash("sha256").update("id-jag\0").update(id).digest("base64url");
  try {
    await usedAssertions.insertOne({ _id, expires_at: until });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new AssertionError("the assertion was used before: get another one");
  }
}
