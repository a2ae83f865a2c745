import { EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { type Method, unary } from "../shared/rpc/method.js";
import { getEndpointStates } from "./commands/get-endpoint-states.js";
import { getPlatformTarget } from "./commands/get-platform-target.js";
import { listPlatforms } from "./commands/list-platforms.js";
import { listVisibleTools } from "./commands/list-visible-tools.js";
import { registerPlatform } from "./commands/register-platform.js";
import { getSwitches, updateSwitches } from "./commands/switches.js";
import type { Context } from "./context.js";
import { createRegistrationToken, revokeRegistrationToken } from "./registration-token.js";

export function routes(context: Context): Method[] {
  const endpoint = EndpointService.method;
  const setting = SettingService.method;
  return [
    unary(endpoint.getEndpointStates, () => getEndpointStates(context)),
    unary(endpoint.listVisibleTools, (r, call) => listVisibleTools(r.server, call, context)),
    unary(setting.getSettings, async () => ({ settings: await getSwitches(context) })),
    unary(setting.updateSettings, async ({ platformServers, core, ai }) => ({
      settings: await updateSwitches({ platformServers, core, ai }, context),
    })),
    unary(setting.listPlatforms, () => listPlatforms(context)),
    unary(setting.registerPlatform, (r) => registerPlatform(r, context)),
    unary(setting.createRegistrationToken, (r) => createRegistrationToken(r.name, context)),
    unary(setting.revokeRegistrationToken, async (r) => {
      await revokeRegistrationToken(r.id, context);
      return {};
    }),
    unary(setting.getPlatformTarget, (r) => getPlatformTarget(r.server, context)),
  ];
}
