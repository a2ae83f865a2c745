import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetAccessTokenKeysResponseSchema } from "#proto/auth/v1/credential_service_pb.js";
import type { Context } from "../context.js";

/** Gives the public keys of access tokens, and their issuer. */
export async function getAccessTokenKeys({
  accessRing,
  issuer,
}: Context): Promise<MessageInitShape<typeof GetAccessTokenKeysResponseSchema>> {
  return { jwks: JSON.stringify(await accessRing.jwks()), issuer };
}
