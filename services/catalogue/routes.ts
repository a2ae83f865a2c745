import { EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { PackageService } from "#proto/catalogue/v1/package_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { type Method, unary } from "../shared/rpc/method.js";
import { addPlatform } from "./commands/add-platform.js";
import { buildPackageFor } from "./commands/build-package.js";
import { createRegistrationToken } from "./commands/create-registration-token.js";
import { describeEndpoints } from "./commands/describe-endpoints.js";
import { explainTool } from "./commands/explain-tool.js";
import { forgetPlatform } from "./commands/forget-platform.js";
import { getEndpointStates } from "./commands/get-endpoint-states.js";
import { getPlatformTarget } from "./commands/get-platform-target.js";
import { getSettings } from "./commands/get-settings.js";
import { listPlatforms } from "./commands/list-platforms.js";
import { listRegistrationTokens } from "./commands/list-registration-tokens.js";
import { listVisibleTools } from "./commands/list-visible-tools.js";
import { measureEndpoint } from "./commands/measure-endpoint.js";
import { movePlatform } from "./commands/move-platform.js";
import { registerPlatform } from "./commands/register-platform.js";
import { revokeRegistrationToken } from "./commands/revoke-registration-token.js";
import { selectPlatform } from "./commands/select-platform.js";
import { updateSettings } from "./commands/update-settings.js";
import type { Context } from "./context.js";
import { registrationTokenOf } from "./registration-token.js";

/** The rpcs of the catalogue. */
export function routes(context: Context): readonly Method[] {
  const endpoint = EndpointService.method;
  const setting = SettingService.method;
  return [
    unary(endpoint.getEndpointStates, () => getEndpointStates(context)),
    unary(endpoint.listVisibleTools, (request, call) => listVisibleTools(context, request, call)),
    unary(endpoint.explainTool, (request, call) => explainTool(context, request, call)),
    unary(endpoint.describeEndpoints, (_request, call) => describeEndpoints(context, call)),
    unary(endpoint.measureEndpoint, (request, call) => measureEndpoint(context, request, call)),
    unary(PackageService.method.buildPackage, (request, call) => buildPackageFor(context, request, call)),
    unary(setting.getSettings, () => getSettings(context)),
    unary(setting.updateSettings, (request, call) => updateSettings(context, request, call)),
    unary(setting.listPlatforms, (_request, call) => listPlatforms(context, call)),
    unary(setting.checkRegistrationToken, async ({ token }) => {
      await registrationTokenOf(context, token);
      return {};
    }),
    unary(setting.registerPlatform, (request) => registerPlatform(context, request)),
    unary(setting.addPlatform, (request) => addPlatform(context, request)),
    unary(setting.selectPlatform, (request) => selectPlatform(context, request)),
    unary(setting.movePlatform, (request) => movePlatform(context, request)),
    unary(setting.forgetPlatform, (request) => forgetPlatform(context, request)),
    unary(setting.createRegistrationToken, (request) => createRegistrationToken(context, request)),
    unary(setting.listRegistrationTokens, (request) => listRegistrationTokens(context, request)),
    unary(setting.revokeRegistrationToken, (request) => revokeRegistrationToken(context, request)),
    unary(setting.getPlatformTarget, (request) => getPlatformTarget(context, request)),
  ];
}
