import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetPlatformIssuerResponseSchema } from "#proto/auth/v1/platform_token_service_pb.js";
import type { Context } from "../context.js";

/** Gives what platforms verify our tokens by: the issuer and its JWK set. */
export async function getPlatformIssuer({
  platformRing,
  platformTokens,
}: Context): Promise<MessageInitShape<typeof GetPlatformIssuerResponseSchema>> {
  return { issuer: platformTokens.issuer, jwks: JSON.stringify(await platformRing.jwks()) };
}
