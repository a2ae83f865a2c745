import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** What the provider is asked to vouch for; further members replace claims, and `typ` that of the header. */
export interface AskedGrant {
  readonly subject: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly clientId: string;
  readonly audience: string;
  readonly resource: string;
  readonly scope?: string;
  readonly typ?: string;
  readonly [claim: string]: unknown;
}

/** A company's identity provider that issues ID-JAGs. */
export interface IdJagIssuer {
  readonly url: string;
  grant(asked: AskedGrant): Promise<string>;
  close(): Promise<void>;
}

const LIFE_S = 300;

/**
 * Starts one, with the header and the claims of draft-ietf-oauth-identity-assertion-authz-grant
 * section 3.1 and the claim `resource` of the MCP extension enterprise-managed-authorization.
 */
export async function startIdJagIssuer({
  alg = "RS256",
}: {
  readonly alg?: "RS256" | "ES256";
} = {}): Promise<IdJagIssuer> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const kid = randomUUID();
  const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
  const server = createServer((request, response) => {
    const documents: Record<string, object> = {
      "/.well-known/openid-configuration": { issuer: url(), jwks_uri: `${url()}/keys` },
      "/keys": { keys: [jwk] },
    };
    const document = documents[request.url ?? ""];
    response
      .writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" })
      .end(JSON.stringify(document ?? {}));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = (): string => `http://127.0.0.1:${port}`;

  return {
    url: url(),
    grant({ subject, email, emailVerified, clientId, audience, resource, scope, typ = "oauth-id-jag+jwt", ...more }) {
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        ...{ iss: url(), sub: subject, aud: audience, client_id: clientId, resource, scope, email },
        ...{ email_verified: emailVerified, jti: randomUUID(), iat: now, exp: now + LIFE_S },
        ...more,
      };
      return new SignJWT(JSON.parse(JSON.stringify(claims))).setProtectedHeader({ alg, kid, typ }).sign(privateKey);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
