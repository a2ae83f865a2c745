/** Longest access token of an authorization server of others, in characters: some have the groups of a person. */
export const MAX_EXTERNAL_TOKEN = 8_192;

/** Whether a bearer token says that an issuer made it; nobody has looked at the signature. */
export function isOfIssuer(token: string, issuer: string): boolean {
  if (token.length > MAX_EXTERNAL_TOKEN || !/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return false;
  try {
    return JSON.parse(Buffer.from(token.split(".", 2)[1] as string, "base64url").toString()).iss === issuer;
  } catch {
    return false;
  }
}
