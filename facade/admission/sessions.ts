import { cookieIn, isFromUs, sessionCookie, sessionCredential } from "../../services/shared/credentials/session.js";
import type { Arrival } from "./admit.js";

/**
 * Reads the session of a person at the console from a request's cookie. Another
 * site can have a browser send the cookie, so it counts only in a request that a
 * page of ours made.
 */
export function sessionsFrom(baseUrl: URL): (arrival: Arrival) => string | undefined {
  const name = sessionCookie(baseUrl.protocol === "https:");
  return ({ headers }) => {
    const value = cookieIn(headers.cookie, name);
    return value !== undefined && isFromUs(headers, baseUrl.origin) ? sessionCredential(value) : undefined;
  };
}
