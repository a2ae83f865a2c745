import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetAssertionKeysResponseSchema } from "#proto/auth/v1/credential_service_pb.js";
import type { Context } from "../context.js";

/** Gives the public keys of caller assertions as a JWK set. */
export async function getAssertionKeys({
  assertionRing,
}: Context): Promise<MessageInitShape<typeof GetAssertionKeysResponseSchema>> {
  return { jwks: JSON.stringify(await assertionRing.jwks()) };
}
