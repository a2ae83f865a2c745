/** A refusal at the level of HTTP: what the client is told, in a JSON-RPC error that echoes its request's id. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 503;
  /** A stable word for programs. */
  readonly word: string;
  /** A sentence that says what to do, for people and models. */
  readonly message: string;
  readonly headers?: readonly string[];
}

/** The WWW-Authenticate header of an endpoint (RFC 9728 section 5.1), without an error. */
export function challengeOf(metadataUrl: string, scopes: readonly string[]): string {
  const scope = scopes.length === 0 ? "" : `, scope="${scopes.join(" ")}"`;
  return `Bearer resource_metadata="${metadataUrl}"${scope}`;
}

/** Refuses a request that carries no bearer token. */
export function noTokenRefusal(challenge: string): HttpRefusal {
  return {
    status: 401,
    word: "missing_token",
    message: "Sign in, or send an API key as 'Authorization: Bearer <key>'.",
    headers: ["www-authenticate", challenge],
  };
}

/** Why a token is not accepted, by the word that credentials give. */
const REASONS: Readonly<Record<string, string>> = {
  malformed: "The bearer token is neither an API key nor an access token of this service: check what the client sends.",
  unknown: "The API key or token is not known here: create a new API key, or sign in again.",
  expired: "The API key or token has expired: create a new API key, or sign in again.",
  revoked: "The API key or token was revoked: create a new API key, or sign in again.",
  disabled: "The account is disabled: ask an administrator.",
  throttled: "Too many failed credentials came from this address: correct the API key and try again in a minute.",
  unexpanded:
    "The client sent the name of an environment variable instead of its value: set the variable where the client is started, or write the API key itself.",
};

const RETRY_S = "2";

/** Refuses a bearer token, for the reason that credentials gave. */
export function tokenRefusal(challenge: string, reason: string): HttpRefusal {
  if (reason === "unavailable") {
    return {
      status: 503,
      word: "unavailable",
      message: "Credentials cannot be verified at the moment: try again in a few seconds.",
      headers: ["retry-after", RETRY_S],
    };
  }
  const message = REASONS[reason] ?? (REASONS.unknown as string);
  const error = `${challenge}, error="invalid_token", error_description="${message.replaceAll(/["\\]/g, "'")}"`;
  return {
    status: 401,
    word: "invalid_token",
    message,
    headers: ["www-authenticate", error, ...(reason === "throttled" ? ["retry-after", "60"] : [])],
  };
}

/** Refuses a call for which the token lacks a scope; names all that are needed now. */
export function scopeRefusal(challenge: string, scopes: readonly string[]): HttpRefusal {
  const metadata = /resource_metadata="[^"]*"/.exec(challenge)?.[0] as string;
  return {
    status: 403,
    word: "insufficient_scope",
    message: `The token lacks a scope: sign in again and allow ${scopes.join(" ")}.`,
    headers: ["www-authenticate", `Bearer error="insufficient_scope", scope="${scopes.join(" ")}", ${metadata}`],
  };
}

/**
 * The token of an Authorization header: undefined where there is none of the
 * Bearer scheme (RFC 6750 section 2.1).
 */
export function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  if (!authorization.startsWith("Bearer ") && !/^bearer /i.test(authorization)) return undefined;
  const token = authorization.slice(7).trim();
  return token === "" ? undefined : token;
}

/** Whether a client sent the name of an environment variable in place of its value. */
export function isUnexpanded(token: string): boolean {
  return token.startsWith("$") || token.startsWith("{env:");
}
