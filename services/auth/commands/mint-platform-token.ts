import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  MintPlatformTokenRequest,
  MintPlatformTokenResponseSchema,
} from "#proto/auth/v1/platform_token_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { platformAudienceOf } from "../../shared/platforms.js";
import type { Call } from "../../shared/rpc/call.js";
import { aborted, failedPrecondition, permissionDenied, unavailable } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { emailOf } from "../identity.js";
import { findUser } from "../records.js";

/** Signs a token by which the platform of a server recognises the calling user. */
export async function mintPlatformToken(
  context: Context,
  { server, fresh, audience }: MintPlatformTokenRequest,
  { caller, signal }: Call,
): Promise<MessageInitShape<typeof MintPlatformTokenResponseSchema>> {
  if (!caller.scopes.has(`${server}:read`) && !caller.scopes.has(`${server}:write`)) {
    throw permissionDenied(
      `this call needs the scope ${server}:read or ${server}:write: use an API key that has one of them`,
    );
  }
  const user = await findUser(context.store, caller.id, "");
  if (user.service) throw permissionDenied("a service account cannot act on a platform: use the API key of a user");
  context.emailDomains.checkPlatformUser(emailOf(user));
  if (!user.email_verified) {
    throw failedPrecondition(
      "your e-mail address is not verified, and platforms identify you by it: ask an administrator to verify it",
    );
  }
  const peers = context.peers();
  if (peers === undefined)
    throw unavailable("the list of platforms cannot be read at the moment: try again in a few seconds");
  const target = await peers.callAsService(SettingService.method.getPlatformTarget, { server }, signal);
  if (!target.registered)
    throw failedPrecondition(`no ${server} platform is registered: ask an administrator to register one`);
  // The token goes to the address that its caller knows: one for another platform would be read there.
  if (platformAudienceOf(target) !== audience) {
    throw aborted(`the address of the ${server} platform changed during the call: repeat the call`);
  }
  const subject = { userId: user._id, email: emailOf(user), audience };
  const { token, expiresAt } = await context.platformTokens.mint(subject, fresh);
  return { token, expiresAt: timestampFromMs(expiresAt) };
}
