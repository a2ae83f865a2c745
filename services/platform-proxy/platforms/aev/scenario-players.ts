import { listOf } from "../../lib/answers.js";
import type { Platform } from "../../platform.js";
import { SCENARIO } from "./member.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamScenario } from "./upstream.js";

/**
 * Lets the players of a scenario take part in its copy. The platform copies the
 * teams without their players, so the mails of the copy would reach no one.
 *
 * @returns what is said of those who still do not take part.
 */
export async function takeOverPlayers(
  platform: Platform,
  tenant: TenantScope,
  origin: UpstreamScenario,
  copyId: string,
): Promise<string[]> {
  const players = origin.scenario_teams_users ?? [];
  if (players.length === 0) return [];
  const path = tenant.path(`${SCENARIO.route}/${copyId}/teams`);
  let left = players.length;
  try {
    for (const { team_id: team } of listOf<{ readonly team_id: string }>(
      platform.server,
      await platform.rest({ verb: "GET", path }),
    )) {
      const own = players.filter(({ team_id }) => team_id === team).map(({ user_id }) => user_id);
      if (own.length === 0) continue;
      const body = { scenario_team_players: own };
      await platform.rest<unknown>({ verb: "PUT", path: `${path}/${team}/players/enable`, body });
      left -= own.length;
    }
  } catch {
    // The copy is there, whatever came of its players.
  }
  if (left === 0) return [];
  return [
    `${left} of ${players.length} players may not take part in the copy. To add them, remove their team with set_scenario_teams and add it again; the injects of the copy then lose the team`,
  ];
}
