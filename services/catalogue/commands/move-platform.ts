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
    throw failedPrecondition(`${set} says where this platform is: change it there and start again`);
  const held = await store.platforms.findOne({ _id: id });
  if (held === null || !isPlatformServer(held.server))
    throw notFound(`no platform ${id} is registered; platforms list shows which are`);
  const { server, url, reach } = held;
  const [from, to, now] = [platformAddress("from_url", fromUrl), platformAddress("to_url", toUrl), reach ?? url];
  if (!isSameAddress(from, now))
    throw failedPrecondition(`the platform is called at ${now}, not at ${from}: look at it again before you move it`);
  await checkAddress(context, "to_url", to);
  const { matchedCount } = await store.platforms.updateOne(
    { _id: id, url, reach: reach ?? { $exists: false } },
    isSameAddress(to, url) ? { $unset: { reach: "" } } : { $set: { reach: to } },
  );
  if (matchedCount === 0) throw aborted("the platform's registration was changed at the same moment: look at it again");
  log.info({ server, platform: id, url: to, before: now }, "an administrator moved a platform to another address");
  await publishPlatform(context, server);
  return { platform: await shown(context, server, id), previousUrl: now };
}
