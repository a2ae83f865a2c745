import type { JWK } from "jose";
import type { Configuration, KoaContextWithOIDC, Provider as ProviderType } from "oidc-provider";
import { parsedUrl } from "../../shared/parsed-url.js";
import type { Log } from "../../shared/process/log.js";
import type { Seal } from "../../shared/secrets/seal.js";
import type { AuthStore } from "../store.js";
import { createAdapter } from "./adapter.js";
import { NORMALIZED, normalizeClient, SUPPORTED } from "./clients.js";
import { SESSION_COOKIE } from "./cookies.js";
import type { ClientFetch } from "./fetch-client.js";
import { errors, Provider } from "./library.js";
import { ACCESS_TOKEN_S, GRANT_S, IDLE_S } from "./lifetimes.js";
import { forgetBrowser, scopesOfResource } from "./middleware.js";
import { failurePage } from "./pages/failure.js";
import { type Site, writePage } from "./pages/page.js";
import { OAUTH } from "./paths.js";
import type { Resource, Resources } from "./resources.js";

/** What an authorization server is made with. */
export interface ProviderOptions {
  /** The issuer: the public base URL, without a last slash. */
  readonly issuer: string;
  readonly store: AuthStore;
  readonly seal: Seal;
  readonly resources: Resources;
  /** The keys of access tokens with their private halves; the first signs. */
  readonly keys: readonly JWK[];
  /** Signs the cookies of a browser that is signing in. */
  readonly cookieKey: string;
  readonly fetchClient: ClientFetch;
  readonly site: Site;
  /** Clients may introduce themselves by a document. */
  readonly clientDocuments: boolean;
  /** Assertions of other providers are exchanged for tokens. */
  readonly takesAssertions: boolean;
  readonly endGrant: (grantId: string) => Promise<unknown>;
  readonly log: Log;
}

/** Longest client document and key set that is read, in bytes. */
const MAX_DOCUMENT = 8 << 10;
const MAX_KEYS = 64 << 10;

/** What clients find that want to bring an assertion (draft-ietf-oauth-identity-assertion-authz-grant). */
const ID_JAG_PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag";

const ALG = "EdDSA" as const;

/** Makes the authorization server; where a library's default differs from what is wanted, a comment says why. */
export function createProvider(options: ProviderOptions): ProviderType {
  const { issuer, log } = options;
  const provider = new Provider(issuer, configurationOf(options));
  // What it takes from forwarded headers is put there by us alone (http.ts).
  provider.proxy = true;
  provider.use(scopesOfResource(options.resources));
  provider.use(forgetBrowser);
  provider.on("server_error", (_ctx, error) => log.error({ err: error }, "the authorization server failed"));
  return provider;
}

function configurationOf(options: ProviderOptions): Configuration {
  const { issuer, store, seal, resources, keys, cookieKey, fetchClient, endGrant, takesAssertions } = options;
  const path = `${new URL(issuer).pathname.replace(/\/$/, "")}${OAUTH}`;
  const cookie = { httpOnly: true, sameSite: "lax", path, secure: issuer.startsWith("https:") } as const;
  return {
    adapter: createAdapter({ store, seal, endGrant }),
    jwks: { keys: [...keys] } as NonNullable<Configuration["jwks"]>,
    fetch: fetchClient as unknown as NonNullable<Configuration["fetch"]>,
    fetchResponseBodyLimits: {
      "client_id metadata document": MAX_DOCUMENT,
      jwks_uri: MAX_KEYS,
      sector_identifier_uri: MAX_DOCUMENT,
    } as NonNullable<Configuration["fetchResponseBodyLimits"]>,
    // Without a key for RS256, the default, every registration would fail.
    enabledJWA: {
      idTokenSigningAlgValues: [ALG],
      clientAuthSigningAlgValues: ["RS256", "PS256", "ES256", "EdDSA"],
    },
    clientDefaults: {
      id_token_signed_response_alg: ALG,
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    clientAuthMethods: ["none", "private_key_jwt"],
    responseTypes: ["code"],
    // The default asks it of public clients only.
    pkce: { required: () => true },
    scopes: ["openid", "offline_access", ...resources.all.flatMap(({ scopes }) => scopes)],
    claims: { openid: ["sub"] },
    ...(takesAssertions && { discovery: { authorization_grant_profiles_supported: [ID_JAG_PROFILE] } }),
    routes: {
      authorization: `${OAUTH}/authorize`,
      token: `${OAUTH}/token`,
      jwks: `${OAUTH}/jwks`,
      registration: `${OAUTH}/register`,
      revocation: `${OAUTH}/revoke`,
    },
    cookies: {
      keys: [cookieKey],
      names: { session: SESSION_COOKIE, interaction: "sallyport_interaction", resume: "sallyport_resume" },
      long: cookie,
      short: cookie,
    },
    interactions: { url: (_ctx, { uid }) => `${path}/interaction/${uid}` },
    ttl: {
      AccessToken: ACCESS_TOKEN_S,
      AuthorizationCode: 60,
      IdToken: ACCESS_TOKEN_S,
      Interaction: 900,
      Session: 900,
      Grant: GRANT_S,
      RefreshToken: (_ctx, token) => Math.max(60, Math.min(IDLE_S, GRANT_S - token.totalLifetime())),
    },
    // A public client's refresh token is replaced at each use (RFC 9700 section 4.14.2); the leeway is the adapter's.
    rotateRefreshToken: true,
    // Clients must not need offline_access, which a resource does not advertise.
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    // A client works on when the browser is closed.
    expiresWithSession: async () => false,
    // Each consent gives a grant of its own, and none is remembered: a client that looks like another gets nothing unasked.
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    async findAccount(_ctx, sub) {
      const user = await store.users.findOne({ _id: sub });
      if (user === null || user.disabled || user.service) return undefined;
      return { accountId: sub, claims: async () => ({ sub }) };
    },
    extraTokenClaims: async (_ctx, token) => (token.kind === "AccessToken" ? { gid: token.grantId } : undefined),
    extraClientMetadata: {
      properties: [NORMALIZED, SUPPORTED],
      validator(ctx, name, _value, metadata) {
        if (name === NORMALIZED) {
          normalizeClient(metadata as Record<string, unknown>, { isSigned: isSigned(ctx), takesAssertions });
        }
      },
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      introspection: { enabled: false },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      revocation: { enabled: true },
      // A token that is bound to a key would pass as a bearer token: nobody checks proofs.
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: {
        enabled: true,
        // A client that names none is refused, not guessed about.
        async defaultResource(_ctx, _client, oneOf) {
          if (oneOf === undefined) throw new errors.InvalidTarget("resource must be the URL of one MCP server");
          return oneOf as unknown as string;
        },
        useGrantedResource: async () => true,
        async getResourceServerInfo(ctx, url) {
          const resource = resources.of(url);
          const isOne = !Array.isArray(ctx.oidc.params?.resource);
          if (resource === undefined || !isOne) {
            throw new errors.InvalidTarget("resource must be the URL of one MCP server");
          }
          return resourceServerOf(resource);
        },
      },
      ...({
        clientIdMetadataDocument: {
          enabled: options.clientDocuments,
          ack: "draft-02",
          allowFetch: () => true,
          cacheDuration: { min: 60, max: 3600 },
        },
      } as object),
    },
    async renderError(ctx, { error, error_description: description = "" }) {
      const { status, headers, body } = writePage(options.site, failurePage(error, description));
      ctx.status = status;
      ctx.set(headers);
      ctx.body = body;
    },
    clientBasedCORS: (_ctx, origin, client) =>
      origin !== "null" && (client.redirectUris ?? []).some((uri) => parsedUrl(uri)?.origin === origin),
  };
}

/** What the library must know of an endpoint to sign tokens for it. */
export function resourceServerOf({ url, scopes }: Resource) {
  return {
    scope: scopes.join(" "),
    audience: url,
    accessTokenTTL: ACCESS_TOKEN_S,
    accessTokenFormat: "jwt" as const,
    jwt: { sign: { alg: ALG } as const },
    scopes: new Set<string>(scopes),
    identifier: () => url,
  };
}

function isSigned(ctx: KoaContextWithOIDC | undefined): boolean {
  return ctx?.oidc?.params?.client_assertion !== undefined;
}
