import type { Log } from "../../process/log.js";
import type { LaneServer, LaneServerOptions } from "./uws-server.js";

/** Where a lane listens. */
export interface LaneOptions extends Pick<LaneServerOptions, "at"> {
  readonly log: Log;
}

/**
 * Opens a lane; undefined where µWebSockets.js does not load, which the log has then.
 *
 * @throws Error where the port cannot be had.
 */
export async function openLane({
  log,
  ...options
}: LaneOptions & Omit<LaneServerOptions, "at">): Promise<LaneServer | undefined> {
  let loaded: typeof import("./uws-server.js");
  try {
    loaded = await import("./uws-server.js");
  } catch (error) {
    log.warn({ err: error }, "there is no lane, because µWebSockets.js does not load: processes call the gRPC port");
    return undefined;
  }
  return loaded.listenOnLane(options);
}
