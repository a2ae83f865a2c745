import { InjectService } from "#proto/aev/v1/inject_service_pb.js";
import { failedPrecondition, notFound } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { deleteAndCheck, stillThere } from "../delete.js";
import { type Inject, type InjectParent, injectOf, readBack, stepOf, toInjectDetails } from "../inject.js";
import { contentOf, fieldsOf, type HealthCheck, lacksOf } from "../inject-fields.js";
import { contractOf } from "../injector-contract.js";
import { labelIds } from "../labels.js";
import { memberOf, SCENARIO, SIMULATION } from "../member.js";
import { targetIds } from "../targets.js";
import { type TenantScope, tenantOf } from "../tenant.js";

/** What writes of injects answer with. */
interface Written {
  readonly inject_id: string;
  readonly inject_healthchecks?: readonly HealthCheck[] | null;
}

/** What an inject may be a step of where it is changed. */
type Plan = Exclude<InjectParent, { readonly of: "test" }>;

const { getInject, createInject, updateInject, setInjectEnabled, duplicateInject, deleteInject } = InjectService.method;

/** How the tools of this service that read and change one inject are answered. */
export const bindings = [
  unary(getInject, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { inject: await toInjectDetails(platform, tenant, await injectOf(platform, tenant, r.injectId)) };
  }),

  unary(createInject, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = await planOf(platform, tenant, r.parent);
    needStill(plan);
    const contract = await contractOf(platform, tenant, r.injectorContractId);
    const targets = await targetIds(platform, tenant, r);
    const written = await platform.rest<Written>({
      verb: "POST",
      path: tenant.path(`${routeOf(plan)}/injects`),
      body: {
        inject_title: r.title.trim(),
        inject_description: r.description ?? null,
        inject_injector_contract: contract.injector_contract_id,
        inject_content: contentOf(contract, r.content),
        inject_depends_duration: r.delaySeconds,
        inject_enabled: !r.disabled,
        inject_all_teams: r.allTeams,
        inject_assets: targets.endpointIds,
        inject_asset_groups: targets.assetGroupIds,
        inject_teams: targets.teamIds,
        inject_tags: await labelIds(platform, tenant, r.labels),
        inject_documents: [],
      },
    });
    return shown(platform, tenant, plan, written);
  }),

  writingBack(
    updateInject,
    (r) => [r.injectId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const { row, parent } = await stepOf(platform, tenant, r.injectId);
      needStill(parent);
      const fields = await fieldsOf(platform, tenant, row, r);
      const path =
        parent.of === "scenario"
          ? `/scenarios/${parent.id}/injects/${row.inject_id}`
          : `/injects/${parent.id}/${row.inject_id}`;
      const written = await platform.rest<Written>({ verb: "PUT", path: tenant.path(path), body: fields });
      return shown(platform, tenant, parent, written);
    },
  ),

  writingBack(
    setInjectEnabled,
    (r) => [r.injectId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const { row, parent } = await stepOf(platform, tenant, r.injectId);
      const inject = { id: row.inject_id, name: row.inject_title };
      if (row.inject_enabled === r.enabled) return { inject, enabled: r.enabled, changed: false };
      if (r.enabled) needStill(parent);
      const path = tenant.path(`${routeOf(parent)}/injects/${row.inject_id}/activation`);
      await platform.rest<unknown>({ verb: "PUT", path, body: { inject_enabled: r.enabled } });
      const kept = await readBack(platform, tenant, row.inject_id);
      return { inject, enabled: kept.inject_enabled, changed: kept.inject_enabled !== row.inject_enabled };
    },
  ),

  unary(duplicateInject, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row, parent } = await stepOf(platform, tenant, r.injectId);
    needStill(parent);
    const path = tenant.path(`${routeOf(parent)}/injects/${row.inject_id}`);
    return shown(platform, tenant, parent, await platform.rest<Written>({ verb: "POST", path }));
  }),

  unary(deleteInject, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row, parent } = await stepOf(platform, tenant, r.injectId);
    const isGone = await deleteAndCheck(
      platform,
      tenant.path(`${routeOf(parent)}/injects/${row.inject_id}`),
      tenant.path(`/injects/${row.inject_id}`),
    );
    if (!isGone) throw stillThere("inject");
    return {
      deleted: { id: row.inject_id, name: row.inject_title },
      ...(parent.of === "scenario"
        ? { scenario: { id: parent.id, name: parent.row.scenario_name } }
        : { simulation: { id: parent.id, name: parent.row.exercise_name } }),
    };
  }),
];

/** The scenario or simulation that is named. */
async function planOf(
  platform: Platform,
  tenant: TenantScope,
  parent: { readonly case: "scenarioId" | "simulationId"; readonly value: string } | { readonly case: undefined },
): Promise<Plan> {
  switch (parent.case) {
    case "scenarioId": {
      const row = await memberOf(platform, tenant, SCENARIO, parent.value);
      return { of: "scenario", id: row.scenario_id, row };
    }
    case "simulationId": {
      const row = await memberOf(platform, tenant, SIMULATION, parent.value);
      return { of: "simulation", id: row.exercise_id, row };
    }
    default:
      throw notFound("give scenario_id or simulation_id");
  }
}

const routeOf = ({ of, id }: Plan): string => (of === "scenario" ? `/scenarios/${id}` : `/exercises/${id}`);

/** In a running simulation a change would be an attack that nobody was asked about. */
function needStill(plan: Plan): void {
  if (plan.of !== "simulation" || plan.row.exercise_status !== "RUNNING") return;
  throw failedPrecondition(
    `simulation ${plan.id} is running, so this inject could run at once; pause the simulation with set_simulation_status first, or run an existing inject with launch_inject`,
  );
}

async function shown(platform: Platform, tenant: TenantScope, parent: Plan, answer: Written) {
  const { inject_id, inject_healthchecks } = objectOf<Written>(platform.server, answer, "inject_id");
  const inject: Inject = { row: await readBack(platform, tenant, inject_id), parent };
  return { inject: await toInjectDetails(platform, tenant, inject), lacks: lacksOf(inject_healthchecks) };
}
