import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import { parsedUrl } from "../../../shared/parsed-url.js";
import type { Context } from "../../context.js";
import { emailOf } from "../../identity.js";
import type { UserRecord } from "../../store.js";
import { JWT_BEARER } from "../clients.js";
import { recordGrant } from "../grants.js";
import { errors } from "../library.js";
import { ACCESS_TOKEN_S } from "../lifetimes.js";
import { resourceServerOf } from "../provider.js";
import { keepClient } from "../records.js";
import type { Resources } from "../resources.js";
import { type Issuer, IssuerUnavailable } from "./issuers.js";
import { userOfAssertion } from "./user.js";
import { AssertionError, useUp, type VerifiedAssertion, verifyIdJag } from "./verify.js";

/** What the grant type works with. */
export interface IdJagOptions {
  readonly context: Pick<Context, "store" | "auditor" | "emailDomains" | "issuer">;
  readonly resources: Resources;
  readonly issuers: ReadonlyMap<string, Issuer>;
}

/**
 * Exchanges ID-JAGs for access tokens (RFC 7523 section 2.1): no page, because
 * the company's provider has decided, and no refresh token, because it decides
 * again each time.
 */
export function registerIdJag(provider: Provider, options: IdJagOptions): void {
  provider.registerGrantType(
    JWT_BEARER,
    async (ctx: KoaContextWithOIDC) => {
      ctx.body = await exchange(provider, ctx, options);
    },
    ["assertion", "scope", "resource"],
  );
}

async function exchange(provider: Provider, { oidc }: KoaContextWithOIDC, options: IdJagOptions): Promise<object> {
  const { context, resources, issuers } = options;
  const { assertion, scope, resource: named } = oidc.params as Record<string, unknown>;
  const client = oidc.client as NonNullable<typeof oidc.client>;
  if (typeof assertion !== "string") throw new errors.InvalidRequest("assertion is missing");
  const said = await verifyIdJag(assertion, {
    ...{ issuers, resources, asked: named },
    ...{ audience: context.issuer, clientId: client.clientId },
  }).catch(refuse);
  const { resource } = said;
  const scopes = scopesOf(said, typeof scope === "string" ? scope : undefined);
  // What is refused until here may be presented again, once the request is corrected.
  await useUp(context.store, said).catch(refuse);
  const user = await userOfAssertion(context.store, said, context.emailDomains);
  if ("unlinked" in user) throw refused(user.unlinked);
  // The provider is configured with the identifier of a client: it must not be forgotten.
  await keepClient(context.store, client.clientId);
  const grantId = await grantOf(context, user, { client, said, scopes });
  noteExchange(context, user, grantId);

  const token = new provider.AccessToken({
    accountId: user._id,
    client,
    grantId,
    gty: JWT_BEARER,
    scope: scopes.join(" "),
  } as ConstructorParameters<typeof provider.AccessToken>[0]);
  token.resourceServer = resourceServerOf(resource) as NonNullable<typeof token.resourceServer>;
  const value = await token.save();
  return {
    access_token: value,
    token_type: "Bearer",
    expires_in: token.expiration,
    scope: scopes.join(" "),
    // Section 4.4.1 of the draft has the answer name what was granted.
    resource: resource.url,
  };
}

/** What the assertion, the endpoint and the request all name. */
function scopesOf({ scopes, resource }: VerifiedAssertion, asked: string | undefined): string[] {
  const wanted = asked?.split(" ").filter((one) => one !== "");
  const given = resource.scopes.filter(
    (scope) => (scopes === undefined || scopes.includes(scope)) && (wanted === undefined || wanted.includes(scope)),
  );
  if (given.length === 0)
    throw new errors.InvalidScope(
      `the assertion and the request must name one of ${resource.scopes.join(", ")}`,
      asked ?? "",
    );
  return given;
}

interface Connected {
  readonly client: { readonly clientId: string; readonly clientName?: string | undefined };
  readonly said: VerifiedAssertion;
  readonly scopes: readonly string[];
}

/** The grant of this person, client and endpoint that stands, as long as its newest token; or a new one. */
async function grantOf(
  { store }: IdJagOptions["context"],
  user: UserRecord,
  { client, said, scopes }: Connected,
): Promise<string> {
  const { resource, issuer } = said;
  const expires_at = new Date(Date.now() + (ACCESS_TOKEN_S + 60) * 1_000);
  const kept = await store.grants.findOneAndUpdate(
    {
      ...{ user_id: user._id, client_id: client.clientId, resource: resource.url, redirect: issuer },
      ...{ revoked_at: null, scopes: [...scopes], expires_at: { $gt: new Date() } },
    },
    { $set: { expires_at } },
    { returnDocument: "after" },
  );
  if (kept !== null) return kept._id;
  const { clientId } = client;
  return recordGrant(
    { store },
    {
      user_id: user._id,
      client_id: clientId,
      client_name: client.clientName || "A client without a name",
      client_host: parsedUrl(clientId)?.host ?? "",
      // No browser was sent anywhere: the provider stands behind it.
      redirect: issuer,
      resource: resource.url,
      server: resource.server,
      scopes,
      expires_at,
    },
  );
}

function refuse(error: unknown): never {
  if (error instanceof IssuerUnavailable) throw unavailable(error.message);
  if (!(error instanceof AssertionError)) throw error;
  throw error.code === "invalid_target" ? new errors.InvalidTarget(error.message) : refused(error.message);
}

/** Not the client's fault: it may present the same assertion again. */
function unavailable(reason: string): Error {
  const said = { error_description: `${reason}; try again`, status: 503, statusCode: 503 };
  return Object.assign(new errors.TemporarilyUnavailable(), said);
}

/** The library would keep the reason for its log. */
function refused(reason: string): Error {
  return Object.assign(new errors.InvalidGrant(reason), { error_description: reason });
}

function noteExchange({ auditor }: IdJagOptions["context"], user: UserRecord, grantId: string): void {
  auditor?.note({
    ...{ kind: AuditKind.SIGN_IN, userId: user._id, userEmail: emailOf(user), keyId: grantId },
    ...{ action: "exchange_id_jag", target: grantId, outcome: "ok", count: 1 },
  });
}
