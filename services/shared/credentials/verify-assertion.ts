import { ConnectError } from "@connectrpc/connect";
import { errors, type JWTVerifyGetKey, jwtVerify } from "jose";
import { unauthenticated } from "../rpc/errors.js";
import type { ServiceName } from "../rpc/service.js";
import { ASSERTION_ISSUER, ASSERTION_TYPE, type AssertionClaims } from "./assertions-claims.js";

const CLOCK_TOLERANCE_S = 5;

/**
 * Verifies the signature and claims of an assertion with keys from somewhere.
 *
 * @throws ConnectError unauthenticated, or jose's JWKSNoMatchingKey where the keys lack the one that signed; what
 * ConnectError the keys throw is thrown, for it says nothing of the assertion.
 */
export async function verifyAssertion(
  assertion: string,
  key: JWTVerifyGetKey,
  audiences: readonly ServiceName[],
): Promise<AssertionClaims> {
  try {
    const { payload } = await jwtVerify<AssertionClaims>(assertion, key, {
      issuer: ASSERTION_ISSUER,
      audience: [...audiences],
      algorithms: ["EdDSA"],
      typ: ASSERTION_TYPE,
      requiredClaims: ["sub", "iat", "exp", "seq"],
      clockTolerance: CLOCK_TOLERANCE_S,
    });
    if (typeof payload.aud !== "string") throw new errors.JWTInvalid("one audience only");
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey || error instanceof ConnectError) throw error;
    throw unauthenticated("the caller assertion is not valid for this service", error);
  }
}
