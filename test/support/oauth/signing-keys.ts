import { type CryptoKey, exportJWK, generateKeyPair, type JSONWebKeySet, type JWK, SignJWT } from "jose";

export type Algorithm = "RS256" | "PS256" | "ES256" | "EdDSA";

interface Key {
  readonly kid: string;
  readonly alg: Algorithm;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

let made = 0;
async function make(alg: Algorithm): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const kid = `key-${++made}`;
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

/** The keys that an issuer signs with and publishes (RFC 7517). */
export class SigningKeys {
  private constructor(
    private keys: Key[],
    private readonly without: readonly string[],
  ) {}

  /** @param without members that the published keys do not have. */
  static async create(alg: Algorithm, without: readonly string[] = []): Promise<SigningKeys> {
    return new SigningKeys([await make(alg)], without);
  }

  /** Signs with a new key from now on, and publishes the earlier ones too unless they are forgotten. */
  async rotate({ forget = false, alg = this.current.alg }: { forget?: boolean; alg?: Algorithm } = {}): Promise<void> {
    this.keys = [await make(alg), ...(forget ? [] : this.keys)];
  }

  get current(): Key {
    return this.keys[0] as Key;
  }

  published(): JSONWebKeySet {
    const keep = ([name]: [string, unknown]) => !this.without.includes(name);
    return { keys: this.keys.map(({ jwk }) => Object.fromEntries(Object.entries(jwk).filter(keep)) as JWK) };
  }

  /** A compact JWS. */
  sign(claims: object, header: object): Promise<string> {
    const { alg, kid, privateKey } = this.current;
    return new SignJWT(claims as Record<string, unknown>)
      .setProtectedHeader({ alg, kid, ...header })
      .sign(privateKey, { crit: { "urn:example:crit": true } });
  }
}
