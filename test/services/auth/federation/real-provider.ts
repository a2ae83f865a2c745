import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider, { type Configuration } from "oidc-provider";

/** A provider as companies run them: oidc-provider with its own users, forms and sessions. */
export interface RealProvider {
  readonly issuer: string;
  /** Claims by subject; who has some can sign in with the subject as password. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>;
  close(): Promise<void>;
}

/** What can be another way. */
export interface RealProviderOptions {
  readonly redirectUri: string;
  readonly clientSecret: string;
  readonly clientAuthentication?: "client_secret_basic" | "client_secret_post";
  /** Whether the ID token has the claims of scopes, or UserInfo alone. */
  readonly claimsInToken?: boolean;
}

/** Starts one on a free port of loopback. */
export async function startRealProvider(options: RealProviderOptions): Promise<RealProvider> {
  const people: RealProvider["people"] = new Map();
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, await configurationOf(options, people));
  const handle = provider.callback();
  server.on("request", (request, response) => {
    const isForm = request.url?.startsWith("/interaction/");
    void (isForm ? interact(provider, people, request, response) : handle(request, response));
  });
  return {
    issuer,
    people,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function configurationOf(
  {
    redirectUri,
    clientSecret,
    clientAuthentication = "client_secret_basic",
    claimsInToken = false,
  }: RealProviderOptions,
  people: RealProvider["people"],
): Promise<Configuration> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "k" }] },
    cookies: { keys: ["a key of cookies in tests"] },
    clients: [
      {
        client_id: "sallyport",
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: clientAuthentication,
      },
    ],
    clientAuthMethods: [clientAuthentication],
    pkce: { required: () => true },
    scopes: ["openid", "email", "profile", "groups"],
    claims: { email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    conformIdTokenClaims: !claimsInToken,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) =>
      people.has(sub) ? { accountId: sub, claims: async () => ({ sub, ...people.get(sub) }) } : undefined,
  };
}

/** The form of the sign-in, and a consent that nobody is asked for. */
async function interact(
  provider: Provider,
  people: RealProvider["people"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, session, params, uid } = await provider.interactionDetails(request, response);
  if (prompt.name === "consent") {
    const grant = new provider.Grant({ accountId: session?.accountId ?? "", clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
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
  if (form.get("cancel") !== null)
    return provider.interactionFinished(request, response, { error: "access_denied", error_description: "cancelled" });
  const accountId = form.get("username") ?? "";
  if (!people.has(accountId) || form.get("password") !== accountId) return void response.writeHead(401).end("wrong");
  return provider.interactionFinished(request, response, { login: { accountId } });
}
