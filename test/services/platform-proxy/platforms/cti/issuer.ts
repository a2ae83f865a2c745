import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** A real issuer of platform tokens: an Ed25519 key, published as the service publishes it. */
export interface Issuer {
  readonly url: string;
  sign(
    email: unknown,
    claims?: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" });
  const jwk = { ...(await exportJWK(publicKey)), use: "sig", alg: "EdDSA", kid: "test" };
  const server = createServer((request, response) => {
    const found = request.url === "/xtm/auth/jwks";
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    response.end(found ? JSON.stringify({ keys: [jwk] }) : "{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    sign(email, claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ iss: url, email, sub: "someone", jti: "once", iat: now, exp: now + 60, ...claims })
        .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: "test", ...header })
        .sign(privateKey);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
