import type { RegisterPlatformRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { PLATFORMS } from "../../shared/platforms.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { registrationTokenOf } from "../registration-token.js";
import { platformAddress, register } from "../registrations.js";
import type { Registrant } from "../same-platform.js";

/** Registers a platform, or refreshes its heartbeat; the first use of a token makes it that platform's own. */
export async function registerPlatform(
  context: Context,
  request: RegisterPlatformRequest,
): Promise<{ server: string }> {
  const token = await registrationTokenOf(context, request.token);
  const given = registrantOf(request);
  await register(context, token, given, {
    title: request.platformTitle,
    version: request.platformVersion,
    last_seen_at: new Date(),
  });
  return { server: given.server };
}

function registrantOf({ platformIdentifier, platformId, platformUrl }: RegisterPlatformRequest): Registrant {
  const server = PLATFORMS.find(({ identifier }) => identifier === platformIdentifier)?.name;
  if (server === undefined) {
    const known = PLATFORMS.map(({ identifier }) => identifier).join(", ");
    throw invalidArgument(`platform_identifier: must be one of ${known}`);
  }
  return { server, platformId, url: platformAddress("platform_url", platformUrl) };
}
