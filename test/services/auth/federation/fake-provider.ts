import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

type Json = Record<string, unknown>;
type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** How a provider departs from what is right; each member alone. */
export interface Conduct {
  /** Who signs in. */
  person: Json;
  discovery?: (document: Json) => Json;
  /** In place of a document, by path. */
  answers: Record<string, Answer>;
  /** Of the ID token. */
  claims?: (claims: JWTPayload) => JWTPayload;
  /** Makes the ID token. */
  sign?: (claims: JWTPayload) => Promise<string> | string;
  /** Of the redirect back. */
  callback?: (query: URLSearchParams) => void;
  userinfo?: Json;
}

/** A provider of OpenID Connect that does as it is told: nobody enters anything, and each answer can be a lie. */
export interface FakeProvider {
  readonly issuer: string;
  readonly conduct: Conduct;
  /** Requests by path. */
  readonly asked: Record<string, number>;
  /** Signs as it should. */
  sign(claims: JWTPayload, header?: object): Promise<string>;
  readonly publicJwk: Json;
  rotate(): Promise<void>;
  close(): Promise<void>;
}

/** Starts one on a free port of loopback. */
export async function startFakeProvider(clientSecret: string | undefined): Promise<FakeProvider> {
  let keys = await makeKeys("first");
  const codes = new Map<string, { nonce: string; challenge: string; redirectUri: string }>();
  const conduct: Conduct = { person: {}, answers: {} };
  const asked: Record<string, number> = {};
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", issuer);
    asked[pathname] = (asked[pathname] ?? 0) + 1;
    const other = conduct.answers[pathname];
    if (other !== undefined) return other(response, request);
    void routes[pathname]?.(request, response);
    if (routes[pathname] === undefined) response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign = (claims: JWTPayload, header: object = {}): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: keys.kid, ...header }).sign(keys.privateKey);

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<void> | void> = {
    "/.well-known/openid-configuration"(_request, response) {
      const document = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        ...(conduct.userinfo && { userinfo_endpoint: `${issuer}/userinfo` }),
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["none", "HS256", "ES256"],
      };
      send(response, conduct.discovery?.(document) ?? document);
    },
    "/jwks": (_request, response) => send(response, { keys: [keys.publicJwk] }),
    "/authorize"(request, response) {
      const { searchParams: asks } = new URL(request.url ?? "/", issuer);
      const code = randomBytes(16).toString("hex");
      const redirectUri = asks.get("redirect_uri") ?? "";
      codes.set(code, { nonce: asks.get("nonce") ?? "", challenge: asks.get("code_challenge") ?? "", redirectUri });
      const query = new URLSearchParams({ code, state: asks.get("state") ?? "", iss: issuer });
      conduct.callback?.(query);
      response.writeHead(302, { location: `${redirectUri}?${query}` }).end();
    },
    async "/token"(request, response) {
      const form = new URLSearchParams(await bodyOf(request));
      const known = codes.get(form.get("code") ?? "");
      codes.delete(form.get("code") ?? "");
      const hashed = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      const isClient =
        clientSecret === undefined
          ? form.get("client_id") === "sallyport"
          : credentialsOf(request) === `sallyport:${clientSecret}`;
      if (!isClient) return send(response, { error: "invalid_client" }, 401);
      if (known?.challenge !== hashed || known.redirectUri !== form.get("redirect_uri"))
        return send(response, { error: "invalid_grant" }, 400);
      const now = Math.floor(Date.now() / 1_000);
      const right = { iss: issuer, aud: "sallyport", iat: now, exp: now + 60, nonce: known.nonce, ...conduct.person };
      const claims = conduct.claims?.(right) ?? right;
      const id_token = await (conduct.sign?.(claims) ?? sign(claims));
      send(response, { access_token: "an-access-token-of-theirs", token_type: "Bearer", expires_in: 60, id_token });
    },
    "/userinfo": (_request, response) => send(response, conduct.userinfo ?? {}),
  };

  return {
    issuer,
    conduct,
    asked,
    sign,
    get publicJwk() {
      return keys.publicJwk as Json;
    },
    async rotate() {
      keys = await makeKeys("second");
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function makeKeys(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  return { kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** RFC 6749 section 2.3.1: each half is encoded as in a form. */
function credentialsOf({ headers }: IncomingMessage): string {
  const [, basic = ""] = (headers.authorization ?? "").split(" ");
  return decodeURIComponent(Buffer.from(basic, "base64").toString());
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request) body += piece;
  return body;
}
