import type { Claims, Issuer } from "./issuer.js";

/** Who a token is to be for, and at which platform. */
export interface Presented {
  readonly issuer: Issuer;
  readonly audience: string;
  readonly email: string;
}

/** The value of the authorization header; undefined for none. */
export type TokenKind = (presented: Presented) => Promise<string | undefined>;

type Change = (presented: Presented, now: number) => Claims;

/** A good token but for some claims and header parameters; one set to undefined is left out. */
const bearer =
  (change: Change = () => ({}), header: Readonly<Record<string, unknown>> = {}): TokenKind =>
  async (presented) =>
    `Bearer ${await presented.issuer.sign(claimsOf(presented, change), header)}`;

function claimsOf(presented: Presented, change: Change): Claims {
  const { audience, email } = presented;
  return { aud: audience, email, ...change(presented, Math.floor(Date.now() / 1_000)) };
}

const good = bearer();
const without = (...names: string[]) => bearer(() => Object.fromEntries(names.map((name) => [name, undefined])));
/** The header parameters of a good token in place of its own: the signature no longer fits. */
const reheaded =
  (change: (header: object) => object): TokenKind =>
  async (presented) => {
    const [head = "", ...rest] = ((await good(presented)) as string).slice("Bearer ".length).split(".");
    const header = change(JSON.parse(Buffer.from(head, "base64url").toString()) as object);
    return `Bearer ${[Buffer.from(JSON.stringify(header)).toString("base64url"), ...rest].join(".")}`;
  };

/** Tokens of every kind that was tried at a real platform, by what is particular about them. */
export const TOKEN_KINDS: Readonly<Record<string, TokenKind>> = {
  good,
  "wrong key, known kid": async (presented) =>
    `Bearer ${await presented.issuer.forge(claimsOf(presented, () => ({})))}`,
  "unknown kid": bearer(undefined, { kid: "nobody-knows" }),
  "no kid": bearer(undefined, { kid: undefined }),
  "expired 1 s": bearer((_, now) => ({ exp: now - 1 })),
  "expired 5 s": bearer((_, now) => ({ exp: now - 5 })),
  "expired, no leeway at 0 s": bearer((_, now) => ({ exp: now })),
  "nbf 5 s ahead": bearer((_, now) => ({ nbf: now + 5 })),
  "iat 60 s ahead, no nbf": bearer((_, now) => ({ iat: now + 60, exp: now + 120 })),
  "no exp": without("exp"),
  "exp in a year": bearer((_, now) => ({ exp: now + 31_536_000 })),
  "no jti": without("jti"),
  "no sub, no jti, no iat": without("sub", "jti", "iat"),
  "same jti twice": bearer(() => ({ jti: "again" })),
  "wrong iss": bearer(() => ({ iss: "https://other.example" })),
  "iss with trailing slash": bearer(({ issuer }) => ({ iss: `${issuer.url}/` })),
  "no iss": without("iss"),
  "wrong aud": bearer(() => ({ aud: "https://other.example" })),
  "no aud": without("aud"),
  "aud with trailing slash": bearer(({ audience }) => ({ aud: `${audience}/` })),
  "aud list with ours": bearer(({ audience }) => ({ aud: ["https://other.example", audience] })),
  "no email": without("email"),
  "blank email": bearer(() => ({ email: " " })),
  "upper-case email": bearer(({ email }) => ({ email: email.toUpperCase() })),
  "alg none": reheaded((header) => ({ ...header, alg: "none", kid: undefined })),
  HS256: reheaded((header) => ({ ...header, alg: "HS256" })),
  "no typ": bearer(undefined, { typ: undefined }),
  "crit header": reheaded((header) => ({ ...header, crit: ["nope"], nope: 1 })),
  "no token": async () => undefined,
  garbage: async () => "Bearer ey.garbage",
  "bearer in lower case": async (presented) => (await good(presented))?.replace("Bearer", "bearer"),
  "no Bearer word": async (presented) => (await good(presented))?.replace("Bearer ", ""),
};
