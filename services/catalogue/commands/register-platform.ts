import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import type { RegisterPlatformRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { PLATFORMS } from "../../shared/platforms.js";
import { failedPrecondition, invalidArgument, unauthenticated } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { FRESH_MS } from "../platforms.js";
import { isRegistrationToken } from "../registration-token.js";

/** Registers a platform, or refreshes its heartbeat. */
export async function registerPlatform(
  context: Context,
  request: RegisterPlatformRequest,
): Promise<{ server: string }> {
  if (!(await isRegistrationToken(context, request.token))) {
    throw unauthenticated(
      "the registration token is not known; an administrator makes one with `platforms token create`",
    );
  }
  const server = PLATFORMS.find(({ identifier }) => identifier === request.platformIdentifier)?.name;
  if (server === undefined) {
    const known = PLATFORMS.map(({ identifier }) => identifier).join(", ");
    throw invalidArgument(`platform_identifier: must be one of ${known}`);
  }
  const url = urlOf(request.platformUrl);
  await refuseTakeOver(context, server, request.platformId, url);
  const before = await context.store.platforms.findOneAndUpdate(
    { _id: server },
    {
      $set: {
        url,
        title: request.platformTitle,
        version: request.platformVersion,
        platform_id: request.platformId,
        last_seen_at: new Date(),
      },
    },
    { upsert: true, returnDocument: "before" },
  );
  if (before?.url !== url) {
    await context.peers.callAsService(WatchService.method.publish, { kind: EventKind.PLATFORM, id: server });
  }
  return { server };
}

function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw invalidArgument("platform_url: must be an http or https URL without a user name");
  }
  return text.replace(/\/+$/, "");
}

/** A token lets a platform register, not take the place of another one that lives. */
async function refuseTakeOver({ store }: Context, server: string, platformId: string, url: string): Promise<void> {
  const held = await store.platforms.findOne({ _id: server });
  if (held === null || Date.now() - held.last_seen_at.getTime() > FRESH_MS) return;
  const isSame = held.platform_id !== "" && platformId !== "" ? held.platform_id === platformId : held.url === url;
  if (isSame) return;
  throw failedPrecondition(
    `another ${server} platform is registered and alive: end that one, wait until its heartbeat is missed, and register again`,
  );
}
