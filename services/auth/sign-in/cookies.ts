import { createHmac } from "node:crypto";
import { isSameText } from "../../shared/credentials/same-text.js";
import { cookieIn, sessionCookie } from "../../shared/credentials/session.js";

/** The cookies that a browser keeps of a sign-in. */
export interface SignInCookies {
  /** The value of the session in a Cookie header. */
  sessionIn(header: string | undefined): string | undefined;
  setSession(value: string): string;
  endSession(): string;
  /** Whether the browser has signed in to this account before. */
  knows(header: string | undefined, userId: string): boolean;
  setKnown(userId: string): string;
}

const YEAR_S = 365 * 86_400;

/**
 * Names and writes the cookies. Over HTTPS the session's name has the prefix
 * `__Host-` (RFC 6265bis section 4.1.3), which no other host of the domain can set; over
 * HTTP, where browsers drop such a cookie, it has none.
 *
 * @param key signs that a browser is known; not a secret of the session.
 */
export function createSignInCookies(isSecure: boolean, key: Buffer): SignInCookies {
  const session = sessionCookie(isSecure);
  const known = `${session}-known`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  const markOf = (userId: string): string => createHmac("sha256", key).update(userId).digest("base64url");

  return {
    sessionIn: (header) => cookieIn(header, session),
    setSession: (value) => `${session}=${value}; ${attributes}`,
    endSession: () => `${session}=; Max-Age=0; ${attributes}`,
    knows(header, userId) {
      // One browser may be several people's.
      const marks = cookieIn(header, known)?.split(".") ?? [];
      return marks.some((one) => isSameText(one, markOf(userId)));
    },
    setKnown: (userId) => `${known}=${markOf(userId)}; Max-Age=${YEAR_S}; ${attributes}`,
  };
}
