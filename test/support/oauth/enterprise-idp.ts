import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createLocalJWKSet, type JWTPayload, jwtVerify } from "jose";
import { type Algorithm, SigningKeys } from "./signing-keys.js";
import { exchange, ID_JAG, OAuthError, type Registration, TOKEN_EXCHANGE } from "./token-exchange.js";

// The identity provider of a company, from the texts alone: OpenID Connect
// Discovery 1.0, RFC 8693, draft-ietf-oauth-identity-assertion-authz-grant-03 and
// the MCP extension "Enterprise-Managed Authorization". It knows nothing of the
// code that verifies what it issues.

/** A person whom the company employs. */
export interface Employee {
  readonly sub: string;
  readonly email?: string | undefined;
  readonly emailVerified?: boolean | undefined;
  /** Of an issuer that several companies share. */
  readonly tenant?: string;
}

/** What an ID-JAG is issued for. */
export interface Access {
  /** The issuer of the authorization server. */
  readonly audience: string;
  /** The client's identifier there. */
  readonly clientId: string;
  readonly resource?: string | readonly string[] | undefined;
  readonly scope?: string | undefined;
}

export interface EnterpriseIdp {
  /** As the claim `iss` and the metadata have it. */
  readonly issuer: string;
  readonly keys: SigningKeys;
  /** How often the keys were fetched. */
  readonly keysFetched: () => number;
  /** Clients that sign people in here, and what policy lets them reach. */
  readonly clients: Map<string, Registration>;
  /** Signs a person in to a client: the ID token. */
  signIn(employee: Employee, clientId: string): Promise<string>;
  /** Issues an ID-JAG (draft section 3.1); claims and header can be changed, undefined leaves one out. */
  idJag(employee: Employee, access: Access, claims?: object, header?: object): Promise<string>;
  close(): Promise<void>;
}

export interface IdpOptions {
  readonly alg?: Algorithm;
  /** The issuer's path: "" (the default), "/realms/acme" of Keycloak, "/" of Auth0. */
  readonly path?: string;
  /** Members that the published keys do not have. */
  readonly without?: readonly string[];
}

const LIFETIME = 300;

export async function startEnterpriseIdp(options: IdpOptions = {}): Promise<EnterpriseIdp> {
  const { alg = "RS256", path = "", without = [] } = options;
  const keys = await SigningKeys.create(alg, without);
  const clients = new Map<string, Registration>();
  const signedIn = new Map<string, Employee>();
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `${origin}${path}`;
  const root = issuer.replace(/\/$/, "");
  let fetched = 0;

  const now = () => Math.floor(Date.now() / 1000);

  const idp: EnterpriseIdp = {
    issuer,
    keys,
    keysFetched: () => fetched,
    clients,
    async signIn(employee, clientId) {
      signedIn.set(employee.sub, employee);
      const { sub, email, emailVerified: email_verified, tenant } = employee;
      const claims = { iss: issuer, sub, aud: clientId, email, email_verified, tenant, auth_time: now() };
      return keys.sign({ ...claims, iat: now(), exp: now() + LIFETIME }, { typ: "JWT" });
    },
    async idJag({ sub, email, emailVerified: email_verified, tenant }, access, claims = {}, header = {}) {
      const { audience: aud, clientId: client_id, resource, scope } = access;
      return keys.sign(
        {
          ...{ jti: crypto.randomUUID(), iss: issuer, sub, aud, client_id, resource, scope },
          ...{ iat: now(), exp: now() + LIFETIME, email, email_verified, tenant },
          ...{ auth_time: now() - 60, acr: "urn:example:loa:2", amr: ["mfa", "hwk", "user"] },
          ...claims,
        },
        { typ: "oauth-id-jag+jwt", ...header },
      );
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${root}/authorize`,
    token_endpoint: `${root}/token`,
    jwks_uri: `${root}/keys`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [alg],
    grant_types_supported: ["authorization_code", TOKEN_EXCHANGE],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
    identity_chaining_requested_token_types_supported: [ID_JAG],
  });

  /** The person of an ID token that was issued here to this client (draft section 4.3.3). */
  const personOf = async (token: string, clientId: string): Promise<Employee> => {
    try {
      const { payload } = await jwtVerify(token, createLocalJWKSet(keys.published()), {
        ...{ issuer, audience: clientId, typ: "JWT", requiredClaims: ["exp", "sub"] },
      });
      return signedIn.get((payload as JWTPayload & { sub: string }).sub) as Employee;
    } catch {
      throw new OAuthError("invalid_grant", "Audience validation failed");
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", origin);
    const send = (status: number, body: object) =>
      response
        .writeHead(status, { "content-type": "application/json", "cache-control": "no-store", pragma: "no-cache" })
        .end(JSON.stringify(body));
    const under = new URL(root).pathname.replace(/\/$/, "");
    if (pathname === `${under}/.well-known/openid-configuration`) return void send(200, metadata());
    if (pathname === `${under}/keys`) {
      fetched++;
      return void send(200, keys.published());
    }
    if (pathname !== `${under}/token` || request.method !== "POST") return void send(404, {});
    try {
      let text = "";
      for await (const chunk of request) text += chunk;
      const form = new URLSearchParams(text);
      send(
        200,
        await exchange({ form, authorization: request.headers.authorization, clients, personOf, idp, LIFETIME }),
      );
    } catch (error) {
      if (!(error instanceof OAuthError)) return void send(500, { error: "server_error" });
      send(error.code === "invalid_client" ? 401 : 400, { error: error.code, error_description: error.message });
    }
  };
  return idp;
}
