import { objectOf, textsOf } from "../input.js";
import { Bare, notFound, ok } from "../replies.js";
import { may, need } from "../rights.js";
import { scenarioEntity } from "../views/scenarios.js";
import type { World } from "../world.js";
import type { Route } from "./route.js";

/** Lets players of a team take part in a scenario. */
export function scenarioPlayersRoute(world: World): Route {
  return {
    method: "PUT",
    path: "/scenarios/{id}/teams/{team}/players/enable",
    answer: ({ actor, ids: [id = "", team = ""], body, now }) => {
      need(may(actor, "MANAGE_ASSESSMENT", id, "PLANNER"));
      const scenario = world.scenarios.get(id);
      if (scenario === undefined) throw notFound("Scenario not found");
      if (scenario.tenant !== actor.tenant) throw new Bare(500);
      const users = textsOf(objectOf(body), "scenario_team_players");
      const isOther = (one: { team: string; user: string }) => one.team !== team || !users.includes(one.user);
      scenario.teamUsers = [...scenario.teamUsers.filter(isOther), ...users.map((user) => ({ team, user }))];
      scenario.updatedAt = now;
      return ok(scenarioEntity(world, scenario));
    },
  };
}
