import { ConnectError } from "@connectrpc/connect";
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { unauthenticated } from "../rpc/errors.js";

// An access token lets a client call one MCP endpoint as a person: a JWT of
// RFC 9068 that our authorization server signed, with the endpoint's URL as its
// only audience.

/** The claims of an access token. */
export interface AccessTokenClaims extends JWTPayload {
  readonly sub: string;
  readonly aud: string;
  readonly exp: number;
  readonly client_id: string;
  /** Space-separated. */
  readonly scope: string;
  /** The grant that it was issued under. */
  readonly gid: string;
}

/** What a token says of itself, before anybody has looked at the signature. */
export interface UnverifiedToken {
  readonly gid: string;
  readonly issuer: string;
}

const TYPE = "at+jwt";
/** Longer is none of ours, in characters. */
const MAX_LENGTH = 2_048;
const CLOCK_TOLERANCE_S = 5;

/** Reads what may be an access token; undefined for what is none, at the cost of parsing one short text. */
export function readAccessToken(token: string): UnverifiedToken | undefined {
  if (token.length > MAX_LENGTH || !/^eyJ[\w-]+\.[\w-]+\.[\w-]{86}$/.test(token)) return undefined;
  try {
    const [header, payload] = token.split(".", 2).map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
    if (header.typ !== TYPE || typeof payload.gid !== "string" || typeof payload.iss !== "string") return undefined;
    return { gid: payload.gid, issuer: payload.iss };
  } catch {
    return undefined;
  }
}

/**
 * Verifies the signature and the claims of an access token (RFC 9068 section 4), all but whether its grant still stands.
 *
 * @throws ConnectError unauthenticated, or jose's JWKSNoMatchingKey where the keys lack the one that signed; what
 * ConnectError the keys throw is thrown, for it says nothing of the token.
 */
export async function verifyAccessToken(
  token: string,
  key: JWTVerifyGetKey,
  issuer: string,
): Promise<AccessTokenClaims> {
  try {
    const { payload } = await jwtVerify<AccessTokenClaims>(token, key, {
      issuer,
      algorithms: ["EdDSA"],
      typ: TYPE,
      requiredClaims: ["sub", "aud", "exp", "iat", "jti", "client_id", "scope", "gid"],
      clockTolerance: CLOCK_TOLERANCE_S,
    });
    const isOfOne = typeof payload.aud === "string" && typeof payload.gid === "string";
    if (!isOfOne) throw new errors.JWTInvalid("one audience and one grant only");
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey || error instanceof ConnectError) throw error;
    throw unauthenticated("the access token is not valid", error);
  }
}
