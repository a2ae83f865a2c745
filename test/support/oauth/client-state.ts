import { randomUUID } from "node:crypto";

/** What a client keeps of a connection: an `authProvider` that both official SDKs take. */
export class ClientState {
  info: Record<string, unknown> | undefined;
  kept: Tokens | undefined;
  verifier = "";
  discovered: Record<string, unknown> | undefined;
  stated = "";
  /** Where the person was sent. */
  sentTo: URL | undefined;
  readonly invalidated: string[] = [];

  constructor(
    readonly redirectUrl: string,
    readonly clientMetadata: Record<string, unknown>,
    readonly clientMetadataUrl?: string,
  ) {}

  clientInformation() {
    return this.info;
  }
  saveClientInformation(info: Record<string, unknown>) {
    this.info = info;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: Tokens) {
    this.kept = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
  state() {
    this.stated = randomUUID();
    return this.stated;
  }
  saveDiscoveryState(state: Record<string, unknown>) {
    this.discovered = state;
  }
  discoveryState() {
    return this.discovered;
  }
  invalidateCredentials(scope: string) {
    this.invalidated.push(scope);
    if (scope === "all" || scope === "tokens") this.kept = undefined;
    if (scope === "all" || scope === "client") this.info = undefined;
  }
}

/** A token response (RFC 6749 section 5.1). */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

/** What a program on the person's machine says of itself. */
export function nativeClient(redirectUrl: string, more: object = {}): Record<string, unknown> {
  return {
    client_name: "Test client",
    redirect_uris: [redirectUrl],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    ...more,
  };
}

/** The claims of a JWT, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] as string, "base64url").toString());
}
