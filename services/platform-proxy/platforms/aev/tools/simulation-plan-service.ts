import { timestampMs } from "@bufbuild/protobuf/wkt";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SimulationPlanService } from "#proto/aev/v1/simulation_plan_service_pb.js";
import { failedPrecondition, invalidArgument } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { listOf, objectOf } from "../../../lib/answers.js";
import { instantOf } from "../../../lib/time.js";
import { enumOf } from "../../../lib/words.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { isGone, stillThere } from "../delete.js";
import { incompleteRead } from "../errors.js";
import { labelIds, labelNames } from "../labels.js";
import { memberOf, SIMULATION } from "../member.js";
import { toOutcomes, type UpstreamResult } from "../results.js";
import { searchAll } from "../search.js";
import { toSimulation } from "../simulation.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import type { UpstreamSimulation } from "../upstream.js";

/** What a read by id tells besides, and a write would clear. */
interface UpstreamSimulationRead extends UpstreamSimulation {
  readonly exercise_subtitle: string | null;
  readonly exercise_main_focus: string | null;
  readonly exercise_message_header: string | null;
  readonly exercise_message_footer: string | null;
  readonly exercise_mail_from_name: string | null;
  readonly exercise_mails_reply_to: readonly string[] | null;
  readonly exercise_custom_dashboard: string | null;
}

interface UpstreamByTechnique {
  readonly inject_attack_pattern: string | null;
  readonly inject_expectation_results:
    | readonly {
        readonly inject_id: string;
        readonly inject_title: string;
        readonly results: readonly UpstreamResult[] | null;
      }[]
    | null;
}

interface UpstreamTechnique {
  readonly attack_pattern_id: string;
  readonly attack_pattern_external_id: string;
  readonly attack_pattern_name: string;
}

const MAX_TECHNIQUES = 10_000;

const {
  createSimulation,
  updateSimulation,
  setSimulationStartDate,
  resetSimulation,
  deleteSimulation,
  getSimulationResultsByAttackPattern,
} = SimulationPlanService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(createSimulation, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    if (r.startAt !== undefined) needFuture(timestampMs(r.startAt));
    const created = await platform.rest<UpstreamSimulation>({
      verb: "POST",
      path: tenant.path(SIMULATION.route),
      body: {
        exercise_name: r.name.trim(),
        exercise_description: r.description,
        exercise_category: r.category,
        exercise_main_focus: r.mainFocus,
        exercise_tags: await labelIds(platform, tenant, r.labels),
        ...(r.startAt !== undefined && { exercise_start_date: instantOf(r.startAt) }),
      },
    });
    return { simulation: await shown(platform, tenant, created) };
  }),

  writingBack(
    updateSimulation,
    (r) => [r.simulationId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const row = (await memberOf(platform, tenant, SIMULATION, r.simulationId)) as UpstreamSimulationRead;
      const labels = await labelIds(platform, tenant, r.labels);
      if (row.exercise_mails_reply_to === undefined) {
        throw incompleteRead();
      }
      // What is left out becomes empty.
      const changed = await platform.rest<UpstreamSimulation>({
        verb: "PUT",
        path: tenant.path(`${SIMULATION.route}/${row.exercise_id}`),
        body: {
          exercise_name: r.name?.trim() ?? row.exercise_name,
          exercise_description: r.description ?? row.exercise_description,
          exercise_category: r.category ?? row.exercise_category,
          exercise_main_focus: r.mainFocus ?? row.exercise_main_focus,
          exercise_subtitle: row.exercise_subtitle,
          exercise_message_header: row.exercise_message_header,
          exercise_message_footer: row.exercise_message_footer,
          exercise_mail_from_name: row.exercise_mail_from_name,
          exercise_mails_reply_to: row.exercise_mails_reply_to,
          exercise_custom_dashboard: row.exercise_custom_dashboard,
          exercise_tags: r.clearLabels || labels.length > 0 ? labels : (row.exercise_tags ?? []),
        },
      });
      return { simulation: await shown(platform, tenant, changed) };
    },
  ),

  unary(setSimulationStartDate, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await memberOf(platform, tenant, SIMULATION, r.simulationId);
    needStatus(row, [SimulationStatus.SCHEDULED], "only a scheduled simulation can get a new start");
    if (r.startAt !== undefined) needFuture(timestampMs(r.startAt));
    const changed = await platform.rest<UpstreamSimulation>({
      verb: "PUT",
      path: tenant.path(`${SIMULATION.route}/${row.exercise_id}/start-date`),
      body: { exercise_start_date: r.startAt === undefined ? null : instantOf(r.startAt) },
    });
    return { simulation: await shown(platform, tenant, changed) };
  }),

  unary(resetSimulation, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await memberOf(platform, tenant, SIMULATION, r.simulationId);
    const over = [SimulationStatus.FINISHED, SimulationStatus.CANCELED];
    needStatus(
      row,
      over,
      "only a finished or canceled simulation can be reset; set_simulation_status cancels a simulation",
    );
    const changed = await platform.rest<UpstreamSimulation>({
      verb: "PUT",
      path: tenant.path(`${SIMULATION.route}/${row.exercise_id}/status`),
      body: { exercise_status: "SCHEDULED" },
    });
    return { simulation: await shown(platform, tenant, changed) };
  }),

  unary(deleteSimulation, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await memberOf(platform, tenant, SIMULATION, r.simulationId);
    const path = tenant.path(`${SIMULATION.route}/${row.exercise_id}`);
    // Of one with people who take part the first request is answered, and does nothing.
    for (let tries = 0; tries < 2; tries++) {
      await platform.rest<void>({ verb: "DELETE", path });
      if (!(await isGone(platform, path))) continue;
      return {
        deleted: { id: row.exercise_id, name: row.exercise_name },
        ...(row.exercise_scenario != null && { scenario: { id: row.exercise_scenario } }),
      };
    }
    throw stillThere("simulation");
  }),

  unary(getSimulationResultsByAttackPattern, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await memberOf(platform, tenant, SIMULATION, r.simulationId);
    const path = tenant.path(`${SIMULATION.route}/${row.exercise_id}/injects/results-by-attack-patterns`);
    const answer = listOf<UpstreamByTechnique>(platform.server, await platform.rest({ verb: "GET", path }));
    const known = await techniquesOf(platform, tenant, answer);
    const results = answer.flatMap((one) => {
      const technique = known.get(one.inject_attack_pattern ?? "");
      if (one.inject_attack_pattern === null) return [];
      return [
        {
          id: one.inject_attack_pattern,
          externalId: technique?.attack_pattern_external_id ?? "",
          name: technique?.attack_pattern_name ?? "",
          injects: (one.inject_expectation_results ?? []).map(({ inject_id, inject_title, results }) => ({
            id: inject_id,
            title: inject_title,
            ...toOutcomes(results ?? []),
          })),
        },
      ];
    });
    return {
      name: row.exercise_name,
      status: enumOf(SimulationStatus, row.exercise_status),
      attackPatterns: results.sort((a, b) => (`${a.externalId} ${a.id}` < `${b.externalId} ${b.id}` ? -1 : 1)),
    };
  }),
];

function needFuture(ms: number): void {
  if (ms <= Date.now()) throw invalidArgument("start_at: is in the past; give a time in the future");
}

function needStatus(row: UpstreamSimulation, allowed: readonly SimulationStatus[], why: string): void {
  const status: SimulationStatus = enumOf(SimulationStatus, row.exercise_status);
  if (!allowed.includes(status)) {
    throw failedPrecondition(`simulation_id: the simulation is ${row.exercise_status.toLowerCase()}, and ${why}`);
  }
}

/** The techniques that an answer names by their ids. */
async function techniquesOf(
  platform: Platform,
  tenant: TenantScope,
  answer: readonly UpstreamByTechnique[],
): Promise<ReadonlyMap<string, UpstreamTechnique>> {
  const found = new Map<string, UpstreamTechnique>();
  if (answer.length === 0) return found;
  const sorts = [{ property: "attack_pattern_external_id", direction: "asc" }] as const;
  const search = { route: "/attack_patterns/search", idKey: "attack_pattern_id", sorts };
  for await (const row of searchAll<UpstreamTechnique>(platform, tenant, search, MAX_TECHNIQUES))
    found.set(row.attack_pattern_id, row);
  return found;
}

async function shown(platform: Platform, tenant: TenantScope, answer: UpstreamSimulation) {
  const row = objectOf<UpstreamSimulation>(platform.server, answer, SIMULATION.idKey);
  return toSimulation(row, await labelNames(platform, tenant, [row.exercise_tags]));
}
