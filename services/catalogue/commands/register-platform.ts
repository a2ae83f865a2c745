import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import type { RegisterPlatformRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { failedPrecondition, invalidArgument, unauthenticated } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { FRESH_MS, SERVER_OF_IDENTIFIER } from "../platforms.js";
import { isRegistrationToken } from "../registration-token.js";

/** Registers a platform, or refreshes its heartbeat. */
export async function registerPlatform(
  request: RegisterPlatformRequest,
  context: Context,
): Promise<{ server: string }> {
  if (!(await isRegistrationToken(request.token, context))) {
    throw unauthenticated(
      "the registration token is not known; an administrator makes one with `platforms token create`",
    );
  }
  const server = SERVER_OF_IDENTIFIER[request.platformIdentifier];
  if (server === undefined) {
    const known = Object.keys(SERVER_OF_IDENTIFIER).join(", ");
    throw invalidArgument(`platform_identifier: must be one of ${known}`);
  }
  const url = urlOf(request.platformUrl);
  await refuseTakeOver(server, request.platformId, url, context);
  const before = await context.store.platforms.findOneAndUpdate(
    { _id: server },
    {
      $set: {
        url,
        title: request.platformTitle,
        version: request.platformVersion,
        platformId: request.platformId,
        lastSeenAt: new Date(),
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
async function refuseTakeOver(server: string, platformId: string, url: string, { store }: Context): Promise<void> {
  const held = await store.platforms.findOne({ _id: server });
  if (held === null || Date.now() - held.lastSeenAt.getTime() > FRESH_MS) return;
  const isSame = held.platformId !== "" && platformId !== "" ? held.platformId === platformId : held.url === url;
  if (isSame) return;
  throw failedPrecondition(
    `another ${server} platform is registered and alive: end that one, wait until its heartbeat is missed, and register again`,
  );
}
