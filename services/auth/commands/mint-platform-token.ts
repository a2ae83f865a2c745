import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  MintPlatformTokenRequest,
  MintPlatformTokenResponseSchema,
} from "#proto/auth/v1/platform_token_service_pb.js";
import { type GetPlatformTargetResponse, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition, permissionDenied, unavailable } from "../../shared/rpc/errors.js";
import { emailOf } from "../identity.js";
import type { Parts } from "../parts.js";
import { findUser } from "../records.js";

export async function mintPlatformToken(
  parts: Parts,
  { server, fresh }: MintPlatformTokenRequest,
  { caller, signal }: Call,
): Promise<MessageInitShape<typeof MintPlatformTokenResponseSchema>> {
  if (!caller.scopes.has(`${server}:read`) && !caller.scopes.has(`${server}:write`)) {
    throw permissionDenied(`this needs the scope ${server}:read or ${server}:write`);
  }
  const user = await findUser(parts.records, caller.id, "");
  if (user.service) throw permissionDenied("a service account is no user of a platform");
  if (!user.emailVerified) {
    throw failedPrecondition("your e-mail address is not verified, and platforms find you by it: ask an administrator");
  }
  const peers = parts.peers();
  if (peers === undefined) throw unavailable("the registered platforms are not known at the moment: try again shortly");
  const target = await peers.callAsService(SettingService.method.getPlatformTarget, { server }, signal);
  if (!target.registered) throw failedPrecondition(`no platform is registered for ${server}`);
  const subject = { userId: user._id, email: emailOf(user), audience: audienceOf(target) };
  const { token, expiresAt } = await parts.platformTokens.mint(subject, fresh);
  return { token, expiresAt: timestampFromMs(expiresAt) };
}

function audienceOf({ auth, clientId, publicUrl }: GetPlatformTargetResponse): string {
  return auth === "exchange" ? clientId : publicUrl.replace(/\/+$/, "");
}
