import type { GetPlatformTargetRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { isPlatformServer, PLATFORM_SERVERS, platformOf } from "../../shared/platforms.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { servingPlatform } from "../platforms.js";

/** Where a registered platform is, and how it takes our token. */
export async function getPlatformTarget(context: Context, { server }: GetPlatformTargetRequest) {
  if (!isPlatformServer(server)) throw invalidArgument(`server: must be one of ${PLATFORM_SERVERS.join(", ")}`);
  const platform = await servingPlatform(context, server);
  if (platform === undefined) return { registered: false };
  const { url, publicUrl, configured: isConfigured } = platform;
  const chosen = context.authentications[server];
  // A client id that an administrator set is that administrator's platform's, and no registrant's.
  const clientId = (isConfigured ? chosen?.clientId : undefined) ?? publicUrl;
  const auth = chosen?.auth ?? platformOf(server).auth[0];
  return { registered: true, url, publicUrl, auth, clientId };
}
