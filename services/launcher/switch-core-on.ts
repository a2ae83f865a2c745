import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Log } from "../shared/process/log.js";
import type { Dispatch } from "../shared/rpc/dispatch.js";
import { readBootstrap } from "./first-start.js";

/** How long it is tried while a store or a service cannot be reached, in milliseconds. */
const PATIENCE_MS = 15_000;
const AGAIN_MS = 500;

/**
 * A first start with the built-in platforms serves core too, so that all there is can be tried at once. If that fails,
 * the process starts without core: the next start is not the first one and would not try it again.
 */
export async function switchCoreOn(
  dispatch: Dispatch,
  dataDir: string,
  log: Log,
  patienceMs = PATIENCE_MS,
): Promise<boolean> {
  const admin = readBootstrap(dataDir)?.admin;
  if (admin === undefined) return false;
  const credential = { authorization: `Bearer ${admin.api_key}` };
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      await dispatch.unary(SettingService.method.updateSettings, { core: true }, { credential });
      return true;
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unavailable || performance.now() >= until) {
        log.warn({ err: error }, "the first start could not switch core on; to do so: cli settings set core on");
        return false;
      }
      await sleep(AGAIN_MS);
    }
  }
}
