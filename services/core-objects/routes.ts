import { CapabilityService } from "#proto/core/v1/capability_service_pb.js";
import { PersonalDataService } from "#proto/core/v1/personal_data_service_pb.js";
import { ResourceService } from "#proto/core/v1/resource_service_pb.js";
import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { type Method, unary } from "../shared/rpc/method.js";
import { belongingsRoutes } from "./belongings/routes.js";
import { getCapabilities } from "./commands/get-capabilities.js";
import { getUsage } from "./commands/get-usage.js";
import { listAvailableResources } from "./commands/list-available-resources.js";
import type { Context } from "./context.js";
import { erasePersonalData } from "./personal/erase.js";
import { exportPersonalData } from "./personal/export.js";
import { withPlainIds } from "./plain-ids.js";
import { runRoutes } from "./runs/routes.js";

/** Every rpc of this service and what answers it: those of the kinds, and what is asked across them. */
export function routes(context: Context): readonly Method[] {
  const all = [
    ...context.kinds.flatMap((kind) => kind.routes(context)),
    ...runRoutes(context),
    ...belongingsRoutes(context),
    unary(PersonalDataService.method.exportPersonalData, (request) => exportPersonalData(context, request)),
    unary(PersonalDataService.method.erasePersonalData, (request, call) => erasePersonalData(context, request, call)),
    unary(ResourceService.method.listAvailableResources, (request, call) =>
      listAvailableResources(context, request, call),
    ),
    unary(UsageService.method.getUsage, (request, call) => getUsage(context, request, call)),
    unary(CapabilityService.method.getCapabilities, (request, call) => getCapabilities(context, request, call)),
  ];
  return all.map(withPlainIds);
}
