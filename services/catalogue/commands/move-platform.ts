import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MovePlatformRequest, PlatformSchema } from "#proto/catalogue/v1/setting_service_pb.js";
import { isPlatformServer } from "../../shared/platforms.js";
import { aborted, failedPrecondition, notFound } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { configuredBy } from "../platforms.js";
import { checkAddress, platformAddress, publishPlatform } from "../registrations.js";
import { isSameAddress } from "../same-platform.js";
import { shown } from "./select-platform.js";

/** Has a platform called at another address by an administrator's word; returns when every process knows. */
export async function movePlatform(
  context: Context,
  { id, fromUrl, toUrl }: MovePlatformRequest,
): Promise<{ platform: MessageInitShape<typeof PlatformSchema>; previousUrl: string }> {
  const { store, log } = context;
  const set = configuredBy(context, id);
  if (set !== undefined)
    throw failedPrecondition(
      `the setting ${set} has the address of this platform: change the setting and restart the service`,
    );
  const held = await store.platforms.findOne({ _id: id });
  if (held === null || !isPlatformServer(held.server))
    throw notFound(`no platform ${id} is registered: \`platforms list\` shows the platforms`);
  const { server, url, reach } = held;
  const [from, to, now] = [platformAddress("from_url", fromUrl), platformAddress("to_url", toUrl), reach ?? url];
  if (!isSameAddress(from, now))
    throw failedPrecondition(
      `the address of the platform is ${now}, not ${from}: check it with \`platforms list\`, then repeat the call`,
    );
  await checkAddress(context, "to_url", to);
  const { matchedCount } = await store.platforms.updateOne(
    { _id: id, url, reach: reach ?? { $exists: false } },
    isSameAddress(to, url) ? { $unset: { reach: "" } } : { $set: { reach: to } },
  );
  if (matchedCount === 0)
    throw aborted(
      "the platform's registration changed during the call: check it with `platforms list`, then repeat the call",
    );
  log.info({ server, platform: id, url: to, before: now }, "an administrator moved a platform to another address");
  await publishPlatform(context, server);
  return { platform: await shown(context, server, id), previousUrl: now };
}
