import type { RevokeRegistrationTokenRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Context } from "../context.js";

/** Takes a registration token back; one that is gone already is no error. */
export async function revokeRegistrationToken(
  { store }: Context,
  { id }: RevokeRegistrationTokenRequest,
): Promise<Record<string, never>> {
  await store.registrationTokens.deleteOne({ _id: id });
  return {};
}
