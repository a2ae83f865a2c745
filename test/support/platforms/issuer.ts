import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";

/** Where the key set is: the path that platforms are told. */
export const JWKS_PATH = "/xtm/auth/jwks";
/** Where an OpenID Connect platform reads of the key set (OpenID Connect Discovery 1.0, section 4). */
export const DISCOVERY_PATH = "/xtm/.well-known/openid-configuration";

/** Claims of a token (RFC 7519, section 4); one set to undefined is left out. */
export type Claims = Readonly<Record<string, unknown>>;

/** An issuer of platform tokens as platforms see it: Ed25519 keys and discovery over HTTP. */
export interface Issuer {
  /** What a platform is told to trust; the `iss` of the tokens, too. */
  readonly url: string;
  /** The key id of the newest key. */
  readonly kid: string;
  /** How often a document was read. */
  reads(path: string): number;
  /** Publishes a new key, which signs from now on. */
  rotate(kid: string): Promise<void>;
  /** Publishes a key no more. */
  withdraw(kid: string): void;
  /** Signs a token that lives for a minute; claims and header parameters given win over those that a good one has. */
  sign(claims: Claims, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The same with a key that nobody published, under the newest key's id. */
  forge(claims: Claims): Promise<string>;
  /** Frees its port. */
  close(): Promise<void>;
}

const LIFE_S = 60;

/** Starts an issuer with one key on a free port. */
export async function startIssuer(): Promise<Issuer> {
  const keys = new Map<string, Awaited<ReturnType<typeof newKey>>>();
  const foreign = await newKey();
  const reads = new Map<string, number>();
  let newest = "";
  let serial = 0;

  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    reads.set(path, (reads.get(path) ?? 0) + 1);
    const document = await documentAt(path);
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function documentAt(path: string): Promise<object | undefined> {
    if (path === DISCOVERY_PATH) return { issuer: url, jwks_uri: `${url}${JWKS_PATH}` };
    if (path !== JWKS_PATH) return undefined;
    const published = [...keys].map(async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
      use: "sig",
      alg: "EdDSA",
    }));
    return { keys: await Promise.all(published) };
  }

  function signWith(key: CryptoKey, claims: Claims, header: object): Promise<string> {
    const now = Math.floor(Date.now() / 1_000);
    const good = { iss: url, sub: "someone", jti: `token-${serial++}`, iat: now, exp: now + LIFE_S };
    const parameters = { alg: "EdDSA", typ: "JWT", kid: newest, ...header };
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
    return new SignJWT({ ...good, ...claims }).setProtectedHeader(Object.fromEntries(given) as never).sign(key);
  }

  const issuer: Issuer = {
    url,
    get kid() {
      return newest;
    },
    reads: (path) => reads.get(path) ?? 0,
    async rotate(kid) {
      keys.set(kid, await newKey());
      newest = kid;
    },
    withdraw: (kid) => void keys.delete(kid),
    sign: (claims, header = {}) => signWith((keys.get(newest) ?? foreign).privateKey, claims, header),
    forge: (claims) => signWith(foreign.privateKey, claims, {}),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await issuer.rotate("key-1");
  return issuer;
}

const newKey = () => generateKeyPair("EdDSA", { crv: "Ed25519" });
