import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import type { RegisterPlatformRequest } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { invalidArgument, unauthenticated } from "../../shared/errors.js";
import type { Context } from "../context.js";
import { SERVER_OF_IDENTIFIER } from "../platforms.js";
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
  const url = request.platformUrl.replace(/\/+$/, "");
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
