import type { ForgetPlatformRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { failedPrecondition } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { configuredId } from "../platforms.js";
import { freeTokens } from "../registration-token.js";
import { publishPlatform } from "../registrations.js";

/** Forgets a registered platform; one that is gone already is no error. */
export async function forgetPlatform(
  context: Context,
  { id }: ForgetPlatformRequest,
): Promise<{ freedTokens: number }> {
  const { store, configured, log } = context;
  const set = Object.entries(configured).find(([server, one]) => configuredId(server as never, one) === id);
  if (set !== undefined) {
    const [server, { isBuiltIn }] = set;
    throw failedPrecondition(
      isBuiltIn
        ? "a built-in platform cannot be forgotten: set SANDBOX=off to remove the built-in platforms, or select another platform"
        : `the setting ${server.toUpperCase()}_URL names this platform: remove the setting and restart the service`,
    );
  }
  const held = await store.platforms.findOne({ _id: id });
  if (held === null) return { freedTokens: 0 };
  // Who calls again after a failure in between finds the platform still, and its tokens through it.
  const freedTokens = await freeTokens(context, held);
  await store.platforms.deleteOne({ _id: id });
  log.info({ server: held.server, platform: id, url: held.url, freedTokens }, "a platform was forgotten");
  await publishPlatform(context, held.server);
  return { freedTokens };
}
