import { Code, ConnectError } from "@connectrpc/connect";
import { notFound } from "../../../shared/rpc/errors.js";
import { objectOf } from "../../lib/answers.js";
import type { Platform } from "../../platform.js";
import { memberOf, named, SCENARIO, SIMULATION } from "./member.js";
import { searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";

interface UpstreamPlaced {
  readonly inject_id: string;
  readonly inject_title: string;
  readonly inject_exercise: string | null;
  readonly inject_scenario: string | null;
}

const MAX_NAMESAKES = 5_000;

/**
 * Confirms that an inject lies in the tenant: in a scenario or simulation of
 * it, or among its atomic tests.
 *
 * @throws ConnectError not_found, also for one of another tenant.
 */
export async function needInject(platform: Platform, tenant: TenantScope, injectId: string): Promise<UpstreamPlaced> {
  const id = injectId.toLowerCase();
  const missing = notFound(`there is no inject ${id} in tenant ${tenant.name}`);
  try {
    const path = tenant.path(`/injects/${id}`);
    const inject = objectOf<UpstreamPlaced>(platform.server, await platform.rest({ verb: "GET", path }), "inject_id");
    if (inject.inject_scenario != null) await memberOf(platform, tenant, SCENARIO, inject.inject_scenario);
    else if (inject.inject_exercise != null) await memberOf(platform, tenant, SIMULATION, inject.inject_exercise);
    else if (!(await isAtomic(platform, tenant, inject))) throw missing;
    return inject;
  } catch (error) {
    throw error instanceof ConnectError && error.code === Code.NotFound ? missing : error;
  }
}

async function isAtomic(platform: Platform, tenant: TenantScope, inject: UpstreamPlaced): Promise<boolean> {
  const search = {
    route: "/atomic-testings/search",
    idKey: "inject_id",
    filters: named("inject_title", inject.inject_title),
    sorts: [{ property: "inject_updated_at", direction: "desc" }],
  } as const;
  for await (const { inject_id } of searchAll<UpstreamPlaced>(platform, tenant, search, MAX_NAMESAKES)) {
    if (inject_id === inject.inject_id) return true;
  }
  return false;
}
