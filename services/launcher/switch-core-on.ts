import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Dispatch } from "../shared/rpc/dispatch.js";
import { readBootstrap } from "./first-start.js";

/** A first start with the built-in platforms serves core too, so that all there is can be tried at once. */
export async function switchCoreOn(dispatch: Dispatch, dataDir: string): Promise<boolean> {
  const admin = readBootstrap(dataDir)?.admin;
  if (admin === undefined) return false;
  const credential = { authorization: `Bearer ${admin.api_key}` };
  await dispatch.unary(SettingService.method.updateSettings, { core: true }, { credential });
  return true;
}
