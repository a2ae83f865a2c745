import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ScenarioPlanService } from "#proto/aev/v1/scenario_plan_service_pb.js";
import { invalidArgument } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { listOf, objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { instantOf, timeOf } from "../../../lib/time.js";
import type { Platform } from "../../../platform.js";
import { cronProblem } from "../cron.js";
import { type HealthCheck, isBlocking } from "../inject-fields.js";
import { labelNames } from "../labels.js";
import { memberOf, readById, SCENARIO } from "../member.js";
import { toScenario } from "../scenario.js";
import { takeOverPlayers } from "../scenario-players.js";
import { byKind, runsOf, scoresOf } from "../scenario-runs.js";
import { teamIds } from "../targets.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import type { UpstreamScenario } from "../upstream.js";

interface UpstreamTeam {
  readonly team_id: string;
  readonly team_name: string;
  readonly team_users_number?: number | null;
}

const { duplicateScenario, scheduleScenario, setScenarioTeams, checkScenarioHealth, getScenarioStatistics } =
  ScenarioPlanService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(duplicateScenario, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const origin = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    const path = tenant.path(`${SCENARIO.route}/${origin.scenario_id}`);
    const answer = await platform.rest<unknown>({ verb: "POST", path });
    const copy = objectOf<UpstreamScenario>(platform.server, answer, SCENARIO.idKey);
    const notices = await takeOverPlayers(platform, tenant, origin, copy.scenario_id);
    return { scenario: await shown(platform, tenant, copy), notices };
  }),

  unary(scheduleScenario, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { scenario_id } = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    if (r.recurrence === undefined && (r.startAt !== undefined || r.endAt !== undefined)) {
      throw invalidArgument("recurrence: is required if start_at or end_at is given");
    }
    const problem = r.recurrence === undefined ? undefined : cronProblem(r.recurrence);
    if (problem !== undefined) throw invalidArgument(`recurrence: ${problem}`);
    const [start, end] = [r.startAt && timestampMs(r.startAt), r.endAt && timestampMs(r.endAt)];
    if (end !== undefined && end <= (start ?? Date.now()))
      throw invalidArgument("end_at: must be after start_at, or after now if start_at is omitted");
    const answer = await platform.rest<unknown>({
      verb: "PUT",
      path: tenant.path(`${SCENARIO.route}/${scenario_id}/recurrence`),
      body: {
        scenario_recurrence: r.recurrence ?? null,
        scenario_recurrence_start:
          r.recurrence === undefined ? null : r.startAt ? instantOf(r.startAt) : new Date().toISOString(),
        scenario_recurrence_end: r.endAt === undefined ? null : instantOf(r.endAt),
      },
    });
    const kept = objectOf<UpstreamScenario>(platform.server, answer, SCENARIO.idKey);
    return {
      scenario: await shown(platform, tenant, kept),
      ...given({ startAt: timeOf(kept.scenario_recurrence_start), endAt: timeOf(kept.scenario_recurrence_end) }),
    };
  }),

  unary(setScenarioTeams, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    if (r.teamIds.length === 0 && !r.clearTeams) {
      throw invalidArgument("team_ids: give at least one team, or remove all teams with clear_teams");
    }
    const { scenario_id } = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    const wanted = await teamIds(platform, tenant, r.teamIds);
    await platform.rest<unknown>({
      verb: "PUT",
      path: tenant.path(`${SCENARIO.route}/${scenario_id}/teams/replace`),
      body: { scenario_teams: wanted },
    });
    // It answers those that it added or took off, and not those that there are.
    const path = tenant.path(`${SCENARIO.route}/${scenario_id}/teams`);
    const teams = listOf<UpstreamTeam>(platform.server, await platform.rest({ verb: "GET", path }));
    return {
      teams: teams.map((team) => ({ id: team.team_id, name: team.team_name, players: team.team_users_number ?? 0 })),
    };
  }),

  unary(checkScenarioHealth, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { scenario_id } = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    const path = tenant.path(`${SCENARIO.route}/${scenario_id}/healthchecks`);
    const checks = listOf<HealthCheck>(platform.server, await platform.rest({ verb: "GET", path }));
    return {
      problems: checks.map((check) => ({
        subject: check.type.toLowerCase(),
        problem: check.detail.toLowerCase(),
        blocks: isBlocking(check),
      })),
    };
  }),

  unary(getScenarioStatistics, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { scenario_id } = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    const runs = await runsOf(platform, tenant, scenario_id);
    return { scores: runs.shown.flatMap(scoresOf).sort(byKind), leftOut: runs.leftOut };
  }),
];

/** What a write answers leaves things out that a read tells. */
async function shown(platform: Platform, tenant: TenantScope, answer: UpstreamScenario) {
  const read = await readById<UpstreamScenario>(platform, tenant, SCENARIO, answer.scenario_id).catch(() => undefined);
  const row = { ...answer, ...read };
  return toScenario(row, await labelNames(platform, tenant, [row.scenario_tags]));
}
