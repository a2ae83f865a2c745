import type { EdgeName } from "../../facade/config.js";
import type { Log } from "../shared/process/log.js";
import type { LaneOptions } from "../shared/rpc/lane/open.js";
import type { Settings } from "./config.js";
import { reservePort } from "./ports.js";

/**
 * Where this process serves the lane of its gRPC port; undefined if it serves none.
 *
 * @param edge the one that was chosen, if this process runs or starts a façade.
 * @throws Error in one line, if the port that is set is taken.
 */
export async function laneOf(
  { host, lanePort, workers }: Settings,
  edge: EdgeName | undefined,
  log: Log,
): Promise<LaneOptions | undefined> {
  // Who does not want µWebSockets.js for one thing does not want it for another.
  if (edge === "node") return undefined;
  if (lanePort !== undefined) return { at: { host, port: await reservePort(host, lanePort, "lane port") }, log };
  return workers === 1 ? undefined : { at: "socket", log };
}
