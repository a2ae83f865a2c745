import { createHash } from "node:crypto";

// A person's session at a browser, as a credential: the value of its cookie
// behind a mark. The mark has a blank, which no bearer token has (RFC 6750
// section 2.1), so that nobody presents a session but by its cookie.

const MARK = "session ";
const VALUE = /^[\w-]{43}$/;

/** The name of the cookie; over HTTPS with a prefix that no other host of the domain can set (RFC 6265bis section 4.1.3). */
export function sessionCookie(isSecure: boolean): string {
  return isSecure ? "__Host-sallyport" : "sallyport";
}

/** The value of a cookie in a Cookie header; undefined for none. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const found = header?.split(/;\s*/).find((one) => one.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

/** The credential that the value of a session's cookie is. */
export function sessionCredential(value: string): string {
  return `${MARK}${value}`;
}

/** The value in a credential; undefined for one that is no session. */
export function sessionIn(credential: string): string | undefined {
  if (!credential.startsWith(MARK)) return undefined;
  const value = credential.slice(MARK.length);
  return VALUE.test(value) ? value : undefined;
}

/** Whether a credential claims to be a session, in whatever form. */
export function isSession(credential: string): boolean {
  return credential.startsWith(MARK);
}

/** The id by which a session is kept and revoked. */
export function sessionIdOf(value: string): string {
  return createHash("sha256").update(value).digest("base64url");
}

/**
 * Whether a page of ours made a request: by Sec-Fetch-Site (Fetch Metadata), or
 * by Origin where a browser sends none, as over plain HTTP.
 */
export function isFromUs(headers: Readonly<Record<string, string | undefined>>, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined ? headers.origin === origin : site === "same-origin";
}
