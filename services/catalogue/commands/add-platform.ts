import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AddPlatformRequest, PlatformSchema } from "#proto/catalogue/v1/setting_service_pb.js";
import { isPlatformServer, PLATFORM_SERVERS } from "../../shared/platforms.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { platformAddress, writeRegistration } from "../registrations.js";
import { shown } from "./select-platform.js";

/** Registers a platform by an administrator's word. */
export async function addPlatform(
  context: Context,
  { server, url, publicUrl = url, title }: AddPlatformRequest,
): Promise<{ platform: MessageInitShape<typeof PlatformSchema> }> {
  if (!isPlatformServer(server)) throw invalidArgument(`server: must be one of ${PLATFORM_SERVERS.join(", ")}`);
  const given = { server, platformId: "", url: platformAddress("public_url", publicUrl) };
  const reach = platformAddress("url", url);
  const id = await writeRegistration(context, given, { title, version: "", reach });
  return { platform: await shown(context, server, id) };
}
