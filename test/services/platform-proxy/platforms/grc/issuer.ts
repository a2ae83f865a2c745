import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

/** An issuer as platforms see it: discovery and keys over HTTP, tokens signed with Ed25519. */
export interface Issuer {
  /** What a platform is told to trust. */
  readonly url: string;
  /** How often each document was read. */
  readonly reads: Record<string, number>;
  sign(claims: JWTPayload, key?: "own" | "foreign"): Promise<string>;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  const own = await generateKeyPair("EdDSA");
  const foreign = await generateKeyPair("EdDSA");
  const jwk = { ...(await exportJWK(own.publicKey)), kid: "one", alg: "EdDSA", use: "sig" };
  const reads: Record<string, number> = {};
  let url = "";
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    reads[path] = (reads[path] ?? 0) + 1;
    const documents: Record<string, unknown> = {
      "/xtm/.well-known/openid-configuration": { issuer: url, jwks_uri: `${url}/xtm/auth/jwks` },
      "/xtm/auth/jwks": { keys: [jwk] },
    };
    const document = documents[path];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    reads,
    sign(claims, key = "own") {
      const now = Math.floor(Date.now() / 1000);
      const payload = { iss: url, iat: now - 5, exp: now + 115, jti: randomUUID(), ...claims };
      const signing = key === "own" ? own.privateKey : foreign.privateKey;
      return new SignJWT(payload).setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: "one" }).sign(signing);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
