import { randomBytes } from "node:crypto";
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { claimsOf, KEYS_KEPT_MS, keysAt } from "../tokens.js";
import { BROKEN, detail, NOTHING, type Reply } from "./replies.js";
import type { User, World } from "./world.js";

/** How a caller is recognised: by a session of the platform, or by our token in every request. */
export interface SignIn {
  /** POST /api/_allauth/app/v1/auth/provider/token */
  exchange(body: unknown): Promise<Reply>;
  /** The user of a request; a reply where there is none. */
  userOf(authorization: string | undefined): Promise<User | Reply>;
  logout(authorization: string | undefined): Reply;
  endAll(): void;
}

/** What signing in is told. */
export interface SignInOptions {
  readonly world: World;
  /** The address under which the issuer's discovery document is read. */
  readonly issuerUrl: string;
  readonly clientId: () => string;
  /** What a token presented in every request must name. */
  readonly audience: () => string;
}

const SESSION_MS = 3_600_000;
const MAX_SESSION_MS = 10 * SESSION_MS;
const INVALID: Reply = {
  status: 400,
  json: { status: 400, errors: [{ message: "Invalid token.", code: "invalid_token", param: "token" }] },
};
const CHALLENGE = { "www-authenticate": 'Bearer realm="api"' };
const unauthorized = (text: string): Reply => ({ ...detail(401, text), headers: CHALLENGE });

interface PlatformSession {
  readonly user: User;
  readonly endsAt: number;
  until: number;
}

interface Issuer {
  readonly issuer: string;
  readonly keys: JWTVerifyGetKey;
}

/** Signs callers in by exchange (OpenID Connect id token for a session) or by bearer token. */
export function createSignIn({ world, issuerUrl, clientId, audience }: SignInOptions): SignIn {
  const sessions = new Map<string, PlatformSession>();
  const presented = new Map<string, number>();
  let kept: { readonly issuer: Issuer; readonly until: number } | undefined;

  async function verify(token: string, { issuer, keys }: Issuer, aud: string): Promise<JWTPayload> {
    const claims = await claimsOf(token, keys, { issuer, audience: aud });
    if (claims.iat !== undefined && claims.iat > Date.now() / 1000) throw new Error("issued in the future");
    return claims;
  }

  /** A token that names itself and its end is taken once. */
  function isReplay({ jti, exp }: JWTPayload): boolean {
    if (jti === undefined || exp === undefined) return false;
    for (const [id, end] of presented) if (end * 1000 < Date.now()) presented.delete(id);
    if (presented.has(jti)) return true;
    presented.set(jti, exp);
    return false;
  }

  async function bearer(token: string): Promise<User | Reply> {
    try {
      if (kept === undefined || kept.until < Date.now())
        kept = { issuer: await discover(issuerUrl), until: Date.now() + KEYS_KEPT_MS };
      if (issuerIn(token) !== kept.issuer.issuer) return unauthorized("Authentication credentials were not provided.");
      const payload = await verify(token, kept.issuer, audience());
      const missing = ["exp", "iat", "iss", "aud", "sub", "jti", "email"].some((claim) => payload[claim] === undefined);
      if (missing) return unauthorized("Invalid token.");
      const user = world.userOf(String(payload.email));
      return user?.active === true ? user : unauthorized("No active account for this e-mail address.");
    } catch {
      return unauthorized("Invalid token.");
    }
  }

  return {
    async exchange(body) {
      const token = (body as { token?: { client_id?: unknown; id_token?: unknown } } | null)?.token;
      if (token?.client_id !== clientId()) return BROKEN;
      let payload: JWTPayload;
      try {
        // Both documents are read at every exchange.
        payload = await verify(String(token.id_token), await discover(issuerUrl), clientId());
      } catch {
        return INVALID;
      }
      if (payload.sub === undefined) return BROKEN;
      if (isReplay(payload)) return INVALID;
      const email = payload.email ?? Object.values(payload).find((claim) => String(claim).includes("@"));
      const user = world.userOf(String(email));
      if (user === undefined) return { status: 403, json: { status: 403 } };
      if (!user.active)
        return { status: 401, json: { status: 401, data: { flows: [] }, meta: { is_authenticated: false } } };
      const key = randomBytes(32).toString("hex");
      const now = Date.now();
      sessions.set(key, { user, until: now + SESSION_MS, endsAt: now + MAX_SESSION_MS });
      return { status: 200, json: sessionOf(user, key, now) };
    },
    async userOf(authorization) {
      const [scheme, key = ""] = authorization?.split(" ") ?? [];
      if (scheme === "Bearer") return bearer(key);
      if (scheme !== "Token") return unauthorized("Authentication credentials were not provided.");
      const session = sessions.get(key);
      const now = Date.now();
      if (session === undefined || session.until < now || session.endsAt < now) {
        sessions.delete(key);
        return unauthorized("Invalid token.");
      }
      session.until = now + SESSION_MS;
      return world.userOf(session.user.email) ?? session.user;
    },
    logout(authorization) {
      sessions.delete(authorization?.split(" ")[1] ?? "");
      return NOTHING;
    },
    endAll: () => sessions.clear(),
  };
}

/** Reads an issuer's discovery document (OpenID Connect Discovery 1.0 §4). */
async function discover(issuerUrl: string): Promise<Issuer> {
  const url = `${issuerUrl}/.well-known/openid-configuration`;
  const reply = await fetch(url, { signal: AbortSignal.timeout(5_000), redirect: "error" });
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}`);
  const { issuer, jwks_uri } = (await reply.json()) as { issuer: string; jwks_uri: string };
  return { issuer, keys: keysAt(jwks_uri, 0) };
}

function issuerIn(token: string): unknown {
  try {
    return (JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { iss?: unknown }).iss;
  } catch {
    return undefined;
  }
}

function sessionOf(user: User, key: string, now: number) {
  return {
    status: 200,
    data: {
      user: {
        id: user.id,
        display: `${user.firstName} ${user.lastName}`,
        email: user.email,
        has_usable_password: false,
      },
      methods: [{ method: "socialaccount", at: now / 1000, provider: "openid_connect", uid: user.email }],
    },
    meta: { is_authenticated: true, session_token: key, access_token: key },
  };
}
