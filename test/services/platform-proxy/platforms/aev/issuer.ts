import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";

/** A service that signs platform tokens: Ed25519, its keys at /xtm/auth/jwks. */
export interface Issuer {
  /** The issuer, and where it is. */
  readonly url: string;
  /** Requests for the key set so far. */
  readonly reads: () => number;
  /** Publishes a new key, and with `only` withdraws the others. */
  rotate(kid: string, only?: boolean): Promise<void>;
  withdraw(kid: string): void;
  /** Signs claims as given, with the newest key. */
  sign(claims: Claims, header?: Record<string, unknown>, key?: CryptoKey): Promise<string>;
  /** A good token for a person and a platform. */
  token(email: string, audience: string): Promise<string>;
  close(): Promise<void>;
}

export type Claims = Record<string, unknown>;

export async function startIssuer(): Promise<Issuer> {
  const keys = new Map<string, { privateKey: CryptoKey; publicKey: CryptoKey }>();
  let newest = "";
  let reads = 0;
  let url = "";
  let jti = 0;

  async function rotate(kid: string, only = false): Promise<void> {
    if (only) keys.clear();
    keys.set(kid, await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true }));
    newest = kid;
  }
  await rotate("key-1");

  const server = createServer(async (request, response) => {
    if (request.url !== "/xtm/auth/jwks") return response.writeHead(404).end();
    reads++;
    const published = await Promise.all(
      [...keys].map(async ([kid, { publicKey }]) => ({
        ...(await exportJWK(publicKey)),
        kid,
        use: "sig",
        alg: "EdDSA",
      })),
    );
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: published }));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const issuer: Issuer = {
    url,
    reads: () => reads,
    rotate,
    withdraw: (kid) => void keys.delete(kid),
    sign(claims, header = {}, key) {
      const all = { alg: "EdDSA", typ: "JWT", kid: newest, ...header };
      const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      const privateKey = key ?? (keys.get(newest)?.privateKey as CryptoKey);
      return new SignJWT(claims).setProtectedHeader(kept as never).sign(privateKey);
    },
    token(email, audience) {
      const now = Math.floor(Date.now() / 1_000);
      return issuer.sign({
        iss: url,
        aud: audience,
        sub: email,
        email,
        jti: String(jti++),
        iat: now,
        exp: now + 120,
      });
    },
    close: () => new Promise((done) => server.close(() => done())),
  };
  return issuer;
}
