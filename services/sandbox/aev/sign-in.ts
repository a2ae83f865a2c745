import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { decodeProtectedHeader } from "jose";
import { claimsOf, keysAt } from "../tokens.js";
import { Bare } from "./replies.js";
import type { User, World } from "./world.js";

/** Who a request acts as, and the cookie that it is answered with. */
export interface SignedIn {
  readonly user: User | undefined;
  readonly setCookie: string | undefined;
}

const SESSION_MS = 24 * 3_600_000;
const MAX_SESSIONS = 10_000;
const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Signs requests in by a bearer token, or by the session that every token
 * request opens; with both, a valid token decides. Writes need either a token
 * without any cookie or the CSRF cookie's value repeated.
 *
 * @param trust the issuer, exactly, and where its keys are.
 * @param audience what must be in the audience, exactly.
 * @returns a function that throws Bare 403 for a write without such proof.
 */
export function createSignIn(
  world: World,
  trust: string,
  audience: () => string,
): (method: string, headers: IncomingHttpHeaders) => Promise<SignedIn> {
  const emailIn = createTokenReader(trust, audience);
  const sessions = new Map<string, { user: User; until: number }>();

  function open(user: User): string {
    if (sessions.size >= MAX_SESSIONS) sessions.delete(sessions.keys().next().value as string);
    const id = randomBytes(16).toString("hex").toUpperCase();
    sessions.set(id, { user, until: Date.now() + SESSION_MS });
    return id;
  }

  return async (method, headers) => {
    const cookies = cookiesOf(headers.cookie);
    const exempt = headers.authorization?.startsWith("Bearer ") === true && headers.cookie === undefined;
    const csrf = cookies.get("XSRF-TOKEN");
    if (!SAFE.has(method) && !exempt && (csrf === undefined || headers["x-xsrf-token"] !== csrf)) throw new Bare(403);

    const sessionId = cookies.get("JSESSIONID");
    const found = sessionId === undefined ? undefined : sessions.get(sessionId);
    const session = found !== undefined && found.until > Date.now() ? found : undefined;
    const token = /^bearer (.+)$/i.exec(headers.authorization ?? "")?.[1];
    const email = token === undefined ? undefined : await emailIn(token.trim());
    const user = email === undefined ? undefined : world.users.get(email);
    if (user === undefined) return { user: session?.user, setCookie: undefined };
    if (session !== undefined) {
      session.user = user;
      return { user, setCookie: undefined };
    }
    return { user, setCookie: `JSESSIONID=${open(user)}; Path=/; HttpOnly` };
  };
}

/**
 * Reads the e-mail address in a token, as the platform does: keys of an hour
 * at most, read again at once for a key id not known, no leeway in time, and no
 * reason where a token is not accepted.
 */
function createTokenReader(trust: string, audience: () => string): (token: string) => Promise<string | undefined> {
  const keys = keysAt(`${trust}/xtm/auth/jwks`, 0);
  return async (token) => {
    try {
      if ((decodeProtectedHeader(token).kid ?? "") === "") return undefined;
      const { email } = await claimsOf(token, keys, { issuer: trust, audience: audience() });
      return typeof email === "string" && email.trim() !== "" ? email.toLowerCase() : undefined;
    } catch {
      return undefined;
    }
  };
}

function cookiesOf(header: string | undefined): Map<string, string> {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim().split("=", 2) as [string, string?]);
  return new Map(pairs.filter(([name]) => name !== "").map(([name, value]) => [name, value ?? ""]));
}
