import type { RevokeRegistrationTokenRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { failedPrecondition, notFound } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { isConfigured, isUnset } from "../registration-token.js";

/** Takes a registration token back. */
export async function revokeRegistrationToken(
  context: Context,
  { id }: RevokeRegistrationTokenRequest,
): Promise<Record<string, never>> {
  if (isConfigured(id) && !isUnset(context, id))
    throw failedPrecondition(
      "the setting REGISTRATION_TOKEN has this token: remove the setting and restart the service",
    );
  const { deletedCount } = await context.store.registrationTokens.deleteOne({ _id: id });
  if (deletedCount === 0)
    throw notFound(`there is no registration token ${id}: \`platforms list-tokens\` shows the tokens`);
  return {};
}
