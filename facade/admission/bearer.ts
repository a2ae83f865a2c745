/** The WWW-Authenticate header of an endpoint (RFC 9728 section 5.1), without an error. */
export function challengeOf(metadataUrl: string, scopes: readonly string[]): string {
  const scope = scopes.length === 0 ? "" : `, scope="${scopes.join(" ")}"`;
  return `Bearer resource_metadata="${metadataUrl}"${scope}`;
}

/** The challenge with why a token was not accepted (RFC 6750 section 3.1). */
export function invalidTokenChallenge(challenge: string, description: string): string {
  return `${challenge}, error="invalid_token", error_description="${description.replaceAll(/["\\]/g, "'")}"`;
}

/** The challenge of a call for which the token lacks one of these scopes (RFC 6750 section 3.1). */
export function scopeChallenge(challenge: string, scopes: readonly string[]): string {
  const metadata = /resource_metadata="[^"]*"/.exec(challenge)?.[0] as string;
  return `Bearer error="insufficient_scope", scope="${scopes.join(" ")}", ${metadata}`;
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
