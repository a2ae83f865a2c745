import { randomUUID } from "node:crypto";
import { instantOf, isBlank, objectOf, tagsOf, textOf, textsOf } from "../input.js";
import { plansOfTeam } from "../kinds/shelf.js";
import { Bare, invalid, notFound, ok } from "../replies.js";
import { type Actor, holds, may, need } from "../rights.js";
import { endpointsOf } from "../runs.js";
import { resultsOf } from "../views/results.js";
import { iso, scenarioEntity } from "../views/scenarios.js";
import { simulationEntity } from "../views/simulations.js";
import { rowsOf, type Scenario, type Simulation, type Team, type World } from "../world.js";
import type { Route } from "./route.js";
import { scenarioPlayersRoute } from "./scenario-players.js";

const MINUTE_MS = 60_000;
/** A copy has no schedule; it has the teams, and nobody of them takes part. */
const OF_A_COPY = { recurrence: null, recurrenceStart: null, recurrenceEnd: null, teamUsers: [] };

/** Scenarios and simulations prepared for runs, and what runs showed. */
export function planRoutes(world: World): Route[] {
  return [...simulationPlanRoutes(world), ...scenarioPlanRoutes(world), scenarioPlayersRoute(world)];
}

function simulationPlanRoutes(world: World): Route[] {
  const toChange = (actor: Actor, id: string): Simulation => {
    need(may(actor, "MANAGE_ASSESSMENT", id, "PLANNER"));
    const simulation = world.simulations.get(id);
    if (simulation === undefined) throw notFound(null);
    if (simulation.tenant !== actor.tenant) throw new Bare(500);
    return simulation;
  };
  return [
    {
      method: "PUT",
      path: "/exercises/{id}",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "MANAGE_ASSESSMENT", id, "PLANNER"));
        const input = objectOf(body);
        const name = textOf(input, "exercise_name");
        if (name === null || isBlank(name)) throw invalid({ exercise_name: "This value should not be blank." });
        const simulation = toChange(actor, id);
        simulation.name = name;
        simulation.description = textOf(input, "exercise_description");
        simulation.category = textOf(input, "exercise_category");
        simulation.mainFocus = textOf(input, "exercise_main_focus");
        simulation.replyTo = textsOf(input, "exercise_mails_reply_to");
        // A severity is read, and not taken over.
        simulation.tags = tagsOf(world, simulation.tenant, input, "exercise_tags");
        simulation.updatedAt = now;
        return ok(simulationEntity(simulation));
      },
    },
    {
      method: "PUT",
      path: "/exercises/{id}/start-date",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "MANAGE_ASSESSMENT", id, "PLANNER"));
        const start = instantOf(objectOf(body), "exercise_start_date");
        if (start !== null && start < now)
          throw invalid({ exercise_start_date: "This date must be now or in the future." });
        const simulation = toChange(actor, id);
        if (simulation.status !== "SCHEDULED")
          throw invalid({ exercise_start_date: "Change date is only possible in scheduling state" });
        simulation.start = start === null ? null : Math.floor(start / MINUTE_MS) * MINUTE_MS;
        simulation.updatedAt = now;
        return ok(simulationEntity(simulation));
      },
    },
    {
      method: "GET",
      path: "/exercises/{id}/injects/results-by-attack-patterns",
      answer: ({ actor, ids: [id = ""], now }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const simulation = world.simulations.get(id);
        if (simulation === undefined) throw notFound("Exercise not found");
        const by = new Map<string, object[]>();
        for (const inject of rowsOf(world.injects, simulation.injects)) {
          const technique = inject.contract.technique?.id;
          if (technique === undefined) continue;
          const results = resultsOf(inject.expectations, now);
          const row = { inject_id: inject.id, inject_title: inject.title, results };
          by.set(technique, [...(by.get(technique) ?? []), row]);
        }
        return ok(
          [...by].map(([technique, rows]) => ({ inject_expectation_results: rows, inject_attack_pattern: technique })),
        );
      },
    },
  ];
}

function scenarioPlanRoutes(world: World): Route[] {
  const byId = (id: string): Scenario => {
    const scenario = world.scenarios.get(id);
    if (scenario === undefined) throw notFound("Scenario not found");
    return scenario;
  };
  const toChange = (actor: Actor, id: string): Scenario => {
    const scenario = byId(id);
    if (scenario.tenant !== actor.tenant) throw new Bare(500);
    return scenario;
  };
  return [
    {
      method: "POST",
      path: "/scenarios/{id}",
      answer: ({ actor, ids: [id = ""], now }) => {
        // A grant is not enough to copy.
        need(holds(actor, "MANAGE_ASSESSMENT"));
        const before = world.scenarios.get(id);
        if (before === undefined) throw new Bare(500);
        if (before.tenant !== actor.tenant) throw new Bare(409);
        const copy: Scenario = {
          ...before,
          id: randomUUID(),
          name: `${before.name} (duplicate)`,
          ...OF_A_COPY,
          simulations: [],
          injects: [],
          tags: [...before.tags],
          createdAt: now,
          updatedAt: now,
        };
        for (const inject of rowsOf(world.injects, before.injects)) {
          const own = randomUUID();
          world.injects.set(own, { ...inject, id: own, scenario: copy.id, createdAt: now, updatedAt: now });
          copy.injects.push(own);
        }
        world.scenarios.set(copy.id, copy);
        return ok({ ...(scenarioEntity(world, copy) as object), scenario_exercises: null });
      },
    },
    {
      method: "PUT",
      path: "/scenarios/{id}/recurrence",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "LAUNCH_ASSESSMENT", id, "LAUNCHER"));
        const input = objectOf(body);
        const [start, end] = ["start", "end"].map((key) => instantOf(input, `scenario_recurrence_${key}`)) as [
          number | null,
          number | null,
        ];
        const scenario = toChange(actor, id);
        // Any text is stored.
        scenario.recurrence = textOf(input, "scenario_recurrence");
        Object.assign(scenario, { recurrenceStart: start, recurrenceEnd: end });
        scenario.updatedAt = now;
        return ok(scenarioEntity(world, scenario));
      },
    },
    {
      method: "GET",
      path: "/scenarios/{id}/teams",
      answer: ({ actor, ids: [id = ""] }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        return ok(rowsOf(world.teams, world.scenarios.get(id)?.teams ?? []).map((team) => teamView(world, team)));
      },
    },
    {
      method: "PUT",
      path: "/scenarios/{id}/teams/replace",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "MANAGE_ASSESSMENT", id, "PLANNER"));
        const wanted = rowsOf(world.teams, textsOf(objectOf(body), "scenario_teams"));
        const scenario = toChange(actor, id);
        const before = scenario.teams;
        const ids = wanted.map((team) => team.id);
        scenario.teams = ids;
        scenario.teamUsers = [
          ...scenario.teamUsers.filter(({ team }) => ids.includes(team)),
          ...wanted
            .filter((team) => !before.includes(team.id))
            .flatMap((team) => team.users.map((user) => ({ team: team.id, user }))),
        ];
        for (const inject of rowsOf(world.injects, scenario.injects))
          inject.teams = inject.teams.filter((team) => ids.includes(team));
        scenario.updatedAt = now;
        const changed = [...ids.filter((one) => !before.includes(one)), ...before.filter((one) => !ids.includes(one))];
        return ok(rowsOf(world.teams, changed).map((team) => teamView(world, team)));
      },
    },
    {
      method: "GET",
      path: "/scenarios/{id}/healthchecks",
      answer: ({ actor, ids: [id = ""], now }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const injects = rowsOf(world.injects, byId(id).injects);
        const at = iso(now);
        const imap = { type: "IMAP", detail: "SERVICE_UNAVAILABLE", status: "WARNING", creation_date: at };
        const isSilent = injects.some((inject) => {
          const endpoints = endpointsOf(world, inject);
          return endpoints.length > 0 && endpoints.every(({ agent }) => agent?.active !== true);
        });
        const agents = { type: "AGENT_OR_EXECUTOR", detail: "EMPTY", status: "ERROR", creation_date: at };
        return ok([imap, ...(isSilent ? [agents] : [])]);
      },
    },
    {
      method: "GET",
      path: "/scenarios/{id}/statistics",
      answer: ({ actor, ids: [id = ""], now }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const runs = rowsOf(world.simulations, world.scenarios.get(id)?.simulations ?? []);
        const by: Record<string, object[]> = {};
        for (const run of runs.filter(({ status }) => status === "FINISHED")) {
          const expectations = rowsOf(world.injects, run.injects).flatMap((inject) => inject.expectations);
          for (const result of resultsOf(expectations, now) as Result[]) {
            const all = result.distribution.reduce((sum, { value }) => sum + value, 0);
            const met = result.distribution.find((one) => one.id === "SUCCESS")?.value ?? 0;
            const score = { simulation_end_date: iso(run.end), global_score_success_percentage: (100 * met) / all };
            by[result.type] = [...(by[result.type] ?? []), score];
          }
        }
        return ok({ simulations_results_latest: { global_scores_by_expectation_type: by } });
      },
    },
  ];
}

interface Result {
  readonly type: string;
  readonly distribution: readonly { readonly id: string; readonly value: number }[];
}

function teamView(world: World, team: Team): unknown {
  return {
    team_id: team.id,
    team_name: team.name,
    team_description: team.description,
    ...plansOfTeam(world, team),
    team_contextual: team.contextual,
    team_tags: team.tags,
    team_users: team.users,
    team_organization: team.organization,
    team_updated_at: iso(team.updatedAt),
    team_users_number: team.users.length,
  };
}
