import { invalidArgument } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { isPlatformServer, PLATFORM_SERVERS, registeredPlatform } from "../platforms.js";

/** Where a registered platform is, and how it takes our token. */
export async function getPlatformTarget(server: string, { store, configured, grc }: Context) {
  if (!isPlatformServer(server)) throw invalidArgument(`server: must be one of ${PLATFORM_SERVERS.join(", ")}`);
  const platform = registeredPlatform(server, configured, await store.platforms.findOne({ _id: server }));
  if (platform === undefined) return { registered: false };
  const { url, publicUrl, configured: isConfigured } = platform;
  // A client id that an administrator set is that administrator's platform's, and no registrant's.
  const clientId = isConfigured ? (grc.clientId ?? publicUrl) : publicUrl;
  const auth = server === "grc" ? grc.auth : "bearer";
  return { registered: true, url, publicUrl, auth, clientId };
}
