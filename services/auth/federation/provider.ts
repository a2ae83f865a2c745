import * as oidc from "openid-client";
import { calledUrlProblem } from "../../shared/outgoing/named-url.js";
import type { Claims } from "./person.js";
import { ANSWER_MS, type ProviderFetch } from "./provider-fetch.js";
import type { ProviderSetting } from "./setting.js";

/** What ties a provider's answer to the request that it answers. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier (RFC 7636). */
  readonly verifier: string;
}

/** An outside provider. Its errors are those of the network, of the library, or of this module; none is for people. */
export interface Provider {
  readonly setting: ProviderSetting;
  readonly redirectUri: string;
  /** Where a browser is sent. @param again whether the provider must ask who the person is, even if it knows. */
  authorizationUrl(checks: Checks, again: boolean): Promise<string>;
  /**
   * Redeems the code of an answer.
   *
   * @param answer the query of the callback.
   * @returns the claims of the verified ID token, and those of the UserInfo endpoint if the token lacks some that are needed.
   */
  redeem(answer: URLSearchParams, checks: Checks): Promise<Claims>;
}

/** How a provider is reached. */
export interface ProviderOptions {
  readonly fetch: ProviderFetch["fetch"];
  readonly redirectUri: string;
  readonly answerMs?: number;
  /** How long metadata is used, in milliseconds. Keys are used for five minutes, and read again for a new key id after one. */
  readonly freshMs?: number;
}

/** Signatures that are accepted: none that a public key could make. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const FRESH_MS = 3_600_000;
/** A provider that did not answer is not asked again for this long, in milliseconds. */
const FAILED_MS = 3_000;

/** Makes a provider that nobody has asked yet. */
export function createProvider(setting: ProviderSetting, options: ProviderOptions): Provider {
  return new OpenidProvider(setting, options);
}

class OpenidProvider implements Provider {
  readonly redirectUri: string;
  #found: { readonly config: oidc.Configuration; readonly until: number } | undefined;
  #failed: { readonly error: unknown; readonly until: number } | undefined;
  #finding: Promise<oidc.Configuration> | undefined;

  constructor(
    readonly setting: ProviderSetting,
    private readonly options: ProviderOptions,
  ) {
    this.redirectUri = options.redirectUri;
  }

  async authorizationUrl({ state, nonce, verifier }: Checks, again: boolean): Promise<string> {
    const { scopes } = this.setting;
    const config = await this.#config();
    return oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.redirectUri,
      scope: ["openid", "email", ...scopes].join(" "),
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(again && { prompt: "login" }),
    }).href;
  }

  async redeem(answer: URLSearchParams, { state, nonce, verifier }: Checks): Promise<Claims> {
    const config = await this.#config();
    // Of the callback's address only the query is the browser's.
    const current = new URL(this.redirectUri);
    current.search = answer.toString();
    const tokens = await oidc.authorizationCodeGrant(config, current, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims() as Claims;
    if (!this.#lacks(claims) || config.serverMetadata().userinfo_endpoint === undefined) return claims;
    const more = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
    return { ...more, ...claims };
  }

  /** Providers may give claims of scopes at UserInfo alone (OpenID Connect Core 1.0, section 5.4). */
  #lacks(claims: Claims): boolean {
    const { emailVerifiedClaim, groupsClaim, groups, administrators } = this.setting;
    const wanted = ["email", emailVerifiedClaim];
    if (groups.size > 0 || administrators !== undefined) wanted.push(groupsClaim);
    return wanted.some((name) => claims[name] === undefined);
  }

  async #config(): Promise<oidc.Configuration> {
    const now = performance.now();
    if (this.#found !== undefined && this.#found.until > now) return this.#found.config;
    if (this.#failed !== undefined && this.#failed.until > now) throw this.#failed.error;
    this.#finding ??= this.#discover().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  async #discover(): Promise<oidc.Configuration> {
    const { fetch, answerMs = ANSWER_MS, freshMs = FRESH_MS } = this.options;
    const { issuer, clientId, clientSecret } = this.setting;
    const isPlain = issuer.startsWith("http:");
    const plain = isPlain ? [oidc.allowInsecureRequests] : [];
    try {
      const answered = await oidc.discovery(new URL(issuer), clientId, undefined, oidc.None(), {
        execute: plain,
        timeout: answerMs / 1_000,
        [oidc.customFetch]: fetch,
      });
      const metadata = checked(answered.serverMetadata(), issuer, isPlain);
      const auth = authenticationOf(metadata.token_endpoint_auth_methods_supported, clientSecret);
      const config = new oidc.Configuration(metadata, clientId, undefined, auth);
      config.timeout = answerMs / 1_000;
      config[oidc.customFetch] = fetch;
      // Without it the library trusts TLS, and looks at no signature (OpenID Connect Core 1.0, section 3.1.3.7, 6).
      for (const enable of [oidc.enableNonRepudiationChecks, ...plain]) enable(config);
      this.#found = { config, until: performance.now() + freshMs };
      this.#failed = undefined;
      return config;
    } catch (error) {
      this.#failed = { error, until: performance.now() + FAILED_MS };
      throw error;
    }
  }
}

/** What of a provider's metadata is used, once it is what it must be. */
function checked(found: oidc.ServerMetadata, issuer: string, isPlain: boolean): oidc.ServerMetadata {
  if (found.issuer !== issuer) {
    const spelled = JSON.stringify(String(found.issuer).slice(0, 200));
    throw new Error(`the metadata is of the issuer ${spelled}: the setting must spell it so`);
  }
  const { id_token_signing_alg_values_supported: offered = ["RS256"] } = found;
  const algorithms = Array.isArray(offered) ? ALGORITHMS.filter((one) => offered.includes(one)) : [];
  if (algorithms.length === 0)
    throw new Error("the metadata has no id_token_signing_alg_values_supported of a public key");
  const { userinfo_endpoint } = found;
  return {
    issuer,
    authorization_endpoint: endpoint(found, "authorization_endpoint", isPlain),
    token_endpoint: endpoint(found, "token_endpoint", isPlain),
    jwks_uri: endpoint(found, "jwks_uri", isPlain),
    ...(userinfo_endpoint !== undefined && { userinfo_endpoint: endpoint(found, "userinfo_endpoint", isPlain) }),
    id_token_signing_alg_values_supported: algorithms,
    ...(Array.isArray(found.token_endpoint_auth_methods_supported) && {
      token_endpoint_auth_methods_supported: found.token_endpoint_auth_methods_supported,
    }),
    authorization_response_iss_parameter_supported: found.authorization_response_iss_parameter_supported === true,
  };
}

const MAX_URL = 2_000;

function endpoint(found: oidc.ServerMetadata, name: string, isPlain: boolean): string {
  const url = found[name];
  const isGood = typeof url === "string" && url.length <= MAX_URL && calledUrlProblem(url) === undefined;
  if (!isGood || !(isPlain || url.startsWith("https:")))
    throw new Error(`the metadata has no ${name} with an https URL`);
  return url;
}

/** RFC 6749 section 2.3.1: by header if the provider says nothing else. */
function authenticationOf(methods: readonly string[] = ["client_secret_basic"], secret?: string): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  if (methods.includes("client_secret_basic")) return oidc.ClientSecretBasic(secret);
  if (methods.includes("client_secret_post")) return oidc.ClientSecretPost(secret);
  throw new Error("the provider takes a client secret neither by client_secret_basic nor by client_secret_post");
}
