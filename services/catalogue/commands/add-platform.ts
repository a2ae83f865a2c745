import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AddPlatformRequest, PlatformSchema } from "#proto/catalogue/v1/setting_service_pb.js";
import { isPlatformServer, PLATFORM_SERVERS } from "../../shared/platforms.js";
import { failedPrecondition, invalidArgument } from "../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { checkAddress, platformAddress, publishPlatform, recordId } from "../registrations.js";
import { isSameAddress } from "../same-platform.js";
import type { PlatformDoc } from "../store.js";
import { shown } from "./select-platform.js";

/** Registers a platform by an administrator's word; one that is there already keeps its address. */
export async function addPlatform(
  context: Context,
  { server, url, publicUrl = url, title }: AddPlatformRequest,
): Promise<{ platform: MessageInitShape<typeof PlatformSchema> }> {
  if (!isPlatformServer(server)) throw invalidArgument(`server: must be one of ${PLATFORM_SERVERS.join(", ")}`);
  const { store, log } = context;
  const own = platformAddress("public_url", publicUrl);
  const reach = platformAddress("url", url);
  await checkAddress(context, "url", reach);
  const _id = recordId({ server, platformId: "", url: own }, true);
  const made = { _id, server, url: own, reach, title, version: "", platform_id: "", registered_at: new Date() };
  const isNew = await store.platforms.insertOne(made).then(
    () => true,
    (error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return false;
    },
  );
  if (isNew) {
    log.info({ server, platform: _id, url: reach }, "an administrator added a platform");
    await publishPlatform(context, server);
  } else await retitle(context, _id, { reach, title });
  return { platform: await shown(context, server, _id) };
}

async function retitle(
  { store }: Context,
  _id: string,
  { reach, title }: { readonly reach: string; readonly title: string },
): Promise<void> {
  const held = (await store.platforms.findOne({ _id })) as PlatformDoc | null;
  const now = held?.reach ?? held?.url;
  if (now !== undefined && !isSameAddress(now, reach)) {
    throw failedPrecondition(
      `this platform is registered as ${_id} with the address ${now}: to change it, run \`platforms move ${_id} --from ${now} --to ${reach}\``,
    );
  }
  await store.platforms.updateOne({ _id }, { $set: { title } });
}
