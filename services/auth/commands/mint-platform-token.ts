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
    throw permissionDenied(`this needs the scope ${server}:read or ${server}:write`);
  }
  const user = await findUser(context.store, caller.id, "");
  if (user.service) throw permissionDenied("a service account is no user of a platform");
  context.emailDomains.checkPlatformUser(emailOf(user));
  if (!user.email_verified) {
    throw failedPrecondition("your e-mail address is not verified, and platforms find you by it: ask an administrator");
  }
  const peers = context.peers();
  if (peers === undefined) throw unavailable("the registered platforms are not known at the moment: try again shortly");
  const target = await peers.callAsService(SettingService.method.getPlatformTarget, { server }, signal);
  if (!target.registered) throw failedPrecondition(`no platform is registered for ${server}`);
  // The token goes to the address that its caller knows: one for another platform would be read there.
  if (platformAudienceOf(target) !== audience) {
    throw aborted(`the ${server} platform has moved while the call was under way: repeat the call`);
  }
  const subject = { userId: user._id, email: emailOf(user), audience };
  const { token, expiresAt } = await context.platformTokens.mint(subject, fresh);
  return { token, expiresAt: timestampFromMs(expiresAt) };
}
