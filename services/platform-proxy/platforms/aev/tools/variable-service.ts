import { VariableService } from "#proto/aev/v1/variable_service_pb.js";
import { failedPrecondition, invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { objectOf, rowsOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { stillThere } from "../delete.js";
import { listPage } from "../list.js";
import { memberOf, SCENARIO, SIMULATION } from "../member.js";
import { type TenantScope, tenantOf } from "../tenant.js";

interface UpstreamVariable {
  readonly variable_id: string;
  readonly variable_key: string;
  readonly variable_value: string | null;
  readonly variable_description: string | null;
}

type Parent =
  | { readonly case: "scenarioId" | "simulationId"; readonly value: string }
  | { readonly case: undefined; readonly value?: undefined };

const ID = "variable_id";
const { listVariables, setVariable, deleteVariable } = VariableService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listVariables, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const route = await routeOf(platform, tenant, r.parent);
    const page = await listPage<UpstreamVariable>(
      platform,
      tenant,
      {
        route,
        whole: () => readAll(platform, tenant, route),
        idKey: "variable_id",
        order: { sorts: [{ property: "variable_key", direction: "asc" }], keyOf: (row) => row.variable_key },
      },
      r,
    );
    return { variables: page.rows.map(toVariable), ...page.paging };
  }),

  writingBack(
    setVariable,
    (r) => [r.variableId, `${r.parent.value} ${r.key}`],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const route = await routeOf(platform, tenant, r.parent);
      const all = await readAll(platform, tenant, route);
      const id = r.variableId?.toLowerCase();
      const meant = all.filter((row) => (id === undefined ? row.variable_key === r.key : row.variable_id === id));
      if (id !== undefined && meant.length === 0) throw unknown(id);
      if (meant.length > 1) {
        const those = meant.map((row) => row.variable_id).join(", ");
        throw failedPrecondition(
          `key: several variables have the key ${r.key}; give one of these ids as variable_id: ${those}`,
        );
      }
      const [before] = meant;
      const written = await platform.rest<unknown>({
        verb: before === undefined ? "POST" : "PUT",
        path: tenant.path(before === undefined ? route : `${route}/${before.variable_id}`),
        body: {
          variable_key: r.key,
          variable_value: r.value ?? before?.variable_value ?? null,
          variable_description: r.description ?? before?.variable_description ?? null,
        },
      });
      const variable = objectOf<UpstreamVariable>(platform.server, written, ID);
      return { variable: toVariable(variable), created: before === undefined };
    },
  ),

  unary(deleteVariable, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const route = await routeOf(platform, tenant, r.parent);
    const id = r.variableId.toLowerCase();
    const before = (await readAll(platform, tenant, route)).find((row) => row.variable_id === id);
    if (before === undefined) throw unknown(id);
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`${route}/${id}`) });
    const after = await readAll(platform, tenant, route);
    if (after.some((row) => row.variable_id === id)) throw stillThere("variable");
    return { deleted: { id, name: before.variable_key } };
  }),
];

/** The platform takes a variable by its id alone, of any scenario. */
const unknown = (id: string) =>
  notFound(
    `variable_id: there is no variable ${id} in this scenario or simulation; list_variables lists its variables`,
  );

async function routeOf(platform: Platform, tenant: TenantScope, parent: Parent): Promise<string> {
  switch (parent.case) {
    case "scenarioId":
      return `/scenarios/${(await memberOf(platform, tenant, SCENARIO, parent.value)).scenario_id}/variables`;
    case "simulationId":
      return `/exercises/${(await memberOf(platform, tenant, SIMULATION, parent.value)).exercise_id}/variables`;
    default:
      throw invalidArgument("give scenario_id or simulation_id");
  }
}

async function readAll(platform: Platform, tenant: TenantScope, route: string): Promise<readonly UpstreamVariable[]> {
  return rowsOf<UpstreamVariable>(platform.server, await platform.rest({ verb: "GET", path: tenant.path(route) }), ID);
}

function toVariable(row: UpstreamVariable) {
  return {
    id: row.variable_id,
    key: row.variable_key,
    ...given({ value: row.variable_value, description: row.variable_description }),
  };
}
