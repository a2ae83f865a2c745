import { Code, ConnectError } from "@connectrpc/connect";
import { type AccessTokenClaims, readAccessToken, verifyAccessToken } from "../../shared/credentials/access-token.js";
import type { Refusal } from "../../shared/credentials/known.js";
import type { KeyRing } from "../key-ring.js";
import type { GrantRecord } from "../store.js";
import type { KeyVerification, RefusedKey, VerifiedUser } from "../verification.js";

/** An access token that is good, with its grant and its user. */
export interface VerifiedToken extends VerifiedUser {
  readonly grant: GrantRecord;
  readonly claims: AccessTokenClaims;
}

const REMEMBERED_MS = 5_000;

/** Whether a bearer token is to be taken for an access token. */
export function isAccessToken(token: string): boolean {
  return readAccessToken(token) !== undefined;
}

/** Verifies an access token against the keys of the ring and the records of now. */
export async function verifyToken(
  token: string,
  { ring, issuer, verification }: { ring: KeyRing; issuer: string; verification: KeyVerification },
): Promise<VerifiedToken | RefusedKey> {
  let claims: AccessTokenClaims;
  try {
    claims = await verifyAccessToken(token, ring.verifier(), issuer);
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unavailable) throw error;
    return refuse("unknown");
  }
  const found = await verification.currentGrant(claims.gid, claims.sub);
  if ("refused" in found) return found;
  const { grant } = found;
  const isOfGrant = grant.resource === claims.aud && grant.client_id === claims.client_id;
  return isOfGrant ? { ...found, claims } : refuse("unknown");
}

function refuse(refused: Refusal["refused"]): RefusedKey {
  return { refused, rememberMs: REMEMBERED_MS };
}
