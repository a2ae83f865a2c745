import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { SERVERS, scopesOfServer } from "../../../services/shared/platforms.js";

/** An authorization server of a company, which issues access tokens for our MCP endpoints. */
export interface OtherAuthorizationServer {
  readonly issuer: string;
  /** Claims of access tokens by subject; who has some can sign in with the subject as password. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>;
  /** Signs what it likes as its own. */
  readonly key: CryptoKey;
  close(): Promise<void>;
}

/** Starts one on a free port of loopback: registration, resource indicators, PKCE, and JWTs by RFC 9068. */
export async function startOtherAuthorizationServer(): Promise<OtherAuthorizationServer> {
  const people: OtherAuthorizationServer["people"] = new Map();
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey: key } = await generateKeyPair("RS256", { extractable: true });
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(key)), alg: "RS256", use: "sig", kid: "k" }] },
    cookies: { keys: ["a key of cookies in tests"], names: { session: "other_session", interaction: "other_step" } },
    clientDefaults: { token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"] },
    clientAuthMethods: ["none"],
    scopes: ["openid", "offline_access", ...SERVERS.flatMap(scopesOfServer)],
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource) => {
          const name = resource.slice(resource.lastIndexOf("/") + 1);
          return {
            ...{ scope: `${name}:read ${name}:write`, audience: resource, accessTokenTTL: 300 },
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "RS256" } },
          };
        },
      },
    },
    extraTokenClaims: (_context, token) => people.get((token as { accountId?: string }).accountId ?? ""),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) =>
      people.has(sub) ? { accountId: sub, claims: async () => ({ sub, ...people.get(sub) }) } : undefined,
  });
  const handle = provider.callback();
  server.on("request", (request, response) => {
    const isForm = request.url?.startsWith("/interaction/");
    void (isForm ? interact(provider, people, request, response) : handle(request, response));
  });
  return {
    ...{ issuer, people, key },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** The form of the sign-in, and a consent that nobody is asked for. */
async function interact(
  provider: Provider,
  people: OtherAuthorizationServer["people"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, session, params, uid } = await provider.interactionDetails(request, response);
  if (prompt.name === "consent") {
    const grant = new provider.Grant({ accountId: session?.accountId ?? "", clientId: String(params.client_id) });
    const { missingOIDCScope = [], missingResourceScopes = {} } = prompt.details as {
      missingOIDCScope?: string[];
      missingResourceScopes?: Record<string, string[]>;
    };
    grant.addOIDCScope(missingOIDCScope.join(" "));
    for (const [resource, scopes] of Object.entries(missingResourceScopes))
      grant.addResourceScope(resource, scopes.join(" "));
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(
      `<form method="post" action="/interaction/${uid}"><input name="username"><input name="password"></form>`,
    );
    return;
  }
  let body = "";
  for await (const piece of request) body += piece;
  const form = new URLSearchParams(body);
  const accountId = form.get("username") ?? "";
  if (!people.has(accountId) || form.get("password") !== accountId) return void response.writeHead(401).end("wrong");
  return provider.interactionFinished(request, response, { login: { accountId } });
}
