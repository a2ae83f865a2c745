import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetAssertionKeysResponseSchema } from "#proto/auth/v1/credential_service_pb.js";
import type { Context } from "../context.js";

/** Gives the public keys of caller assertions as a JWK set. */
export function getAssertionKeys({ assertionRing }: Context): MessageInitShape<typeof GetAssertionKeysResponseSchema> {
  return { jwks: JSON.stringify(assertionRing.jwks()) };
}
