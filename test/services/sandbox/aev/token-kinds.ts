import { generateKeyPair } from "jose";
import { emailOf } from "../../platform-proxy/platforms/aev/harness.js";
import type { Issuer } from "../../platform-proxy/platforms/aev/issuer.js";

/** The value of the authorization header for each kind of token that was tried; undefined for none. */
export type TokenKind = (issuer: Issuer, audience: string) => Promise<string | undefined>;

const bearer =
  (
    change: (claims: Record<string, unknown>, now: number) => Record<string, unknown>,
    header: Record<string, unknown> = {},
  ): TokenKind =>
  async (issuer, audience) => {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer.url,
      aud: audience,
      sub: "planner",
      email: emailOf("planner"),
      jti: "1",
      iat: now,
      exp: now + 60,
    };
    return `Bearer ${await issuer.sign(change(claims, now), header)}`;
  };

const good = bearer((claims) => claims);
const without = (...names: string[]): TokenKind =>
  bearer((claims) => Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name))));
const withClaims = (more: (claims: Record<string, unknown>, now: number) => Record<string, unknown>): TokenKind =>
  bearer((claims, now) => ({ ...claims, ...more(claims, now) }));

/** By the names under which they were recorded. */
export const TOKEN_KINDS: Readonly<Record<string, TokenKind>> = {
  good,
  "good, admin": withClaims(() => ({ email: emailOf("admin") })),
  "good, no groups": withClaims(() => ({ email: emailOf("nobody") })),
  "wrong key, known kid": async (issuer, audience) => {
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" });
    return `Bearer ${await issuer.sign({ iss: issuer.url, aud: audience, email: emailOf("planner") }, {}, privateKey)}`;
  },
  "unknown kid": bearer((claims) => claims, { kid: "nobody-knows" }),
  "no kid": bearer((claims) => claims, { kid: undefined }),
  "expired 1 s": withClaims((_, now) => ({ exp: now - 1 })),
  "expired, no leeway at 0 s": withClaims((_, now) => ({ exp: now })),
  "nbf 5 s ahead": withClaims((_, now) => ({ nbf: now + 5 })),
  "iat 60 s ahead, no nbf": withClaims((_, now) => ({ iat: now + 60, exp: now + 120 })),
  "no exp": without("exp"),
  "exp in a year": withClaims((_, now) => ({ exp: now + 31_536_000 })),
  "no sub, no jti, no iat": without("sub", "jti", "iat"),
  "same jti twice": withClaims(() => ({ jti: "again" })),
  "wrong iss": withClaims(() => ({ iss: "https://other.example" })),
  "iss with trailing slash": withClaims(({ iss }) => ({ iss: `${iss}/` })),
  "no iss": without("iss"),
  "wrong aud": withClaims(() => ({ aud: "https://other.example" })),
  "no aud": without("aud"),
  "aud with trailing slash": withClaims(({ aud }) => ({ aud: `${aud}/` })),
  "aud list with ours": withClaims(({ aud }) => ({ aud: ["https://other.example", aud] })),
  "no email": without("email"),
  "blank email": withClaims(() => ({ email: " " })),
  "unknown email": withClaims(() => ({ email: emailOf("stranger") })),
  "upper-case email": withClaims(() => ({ email: emailOf("planner").toUpperCase() })),
  "mixed-case account, lower-case claim": good,
  "email of a player": withClaims(() => ({ email: emailOf("paula") })),
  "alg none": async (issuer, audience) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { iss: issuer.url, aud: audience, email: emailOf("planner") };
    return `Bearer ${part({ alg: "none", typ: "JWT", kid: "key-1" })}.${part(claims)}.`;
  },
  "no typ": bearer((claims) => claims, { typ: undefined }),
  "crit header": async (issuer, audience) => {
    const signed = (await good(issuer, audience)) as string;
    const [head = "", ...rest] = signed.slice("Bearer ".length).split(".");
    const header = { ...JSON.parse(Buffer.from(head, "base64url").toString()), crit: ["nope"], nope: 1 };
    return `Bearer ${[Buffer.from(JSON.stringify(header)).toString("base64url"), ...rest].join(".")}`;
  },
  "no token": async () => undefined,
  garbage: async () => "Bearer ey.garbage",
  "bearer in lower case": async (issuer, audience) => (await good(issuer, audience))?.replace("Bearer", "bearer"),
  "lower-case bearer, write": async (issuer, audience) => (await good(issuer, audience))?.replace("Bearer", "bearer"),
  "no Bearer word": async (issuer, audience) => (await good(issuer, audience))?.replace("Bearer ", ""),
  "new kid published after the key set was cached": async (issuer, audience) => {
    await issuer.rotate("key-2");
    return good(issuer, audience);
  },
  "withdrawn kid while cached": async (issuer, audience) => {
    issuer.withdraw("key-1");
    return bearer((claims) => claims)(issuer, audience);
  },
  "unknown kid makes it refetch": bearer((claims) => claims, { kid: "nobody-knows" }),
};
