import { randomUUID } from "node:crypto";
import { instantOf, isBlank, objectOf, tagsOf, textOf, wordOf } from "../input.js";
import { Bare, invalid, notFound, ok } from "../replies.js";
import { type Actor, holds, may, need } from "../rights.js";
import { setStatus } from "../runs.js";
import { searchRows } from "../search.js";
import { INJECT_FIELDS, PLAN_RULES, simulationFields } from "../views/fields.js";
import { scenarioInjectRow, simulationInjectRow } from "../views/injects.js";
import { simulationDetails, simulationEntity, simulationResults, simulationRow } from "../views/simulations.js";
import { rowsOf, type Scenario, type Simulation, type World } from "../world.js";
import type { Route } from "./route.js";

const STATUSES = ["SCHEDULED", "CANCELED", "RUNNING", "PAUSED", "FINISHED"] as const;
const SEVERITIES = ["low", "medium", "high", "critical"] as const;

/** Simulations: search, read, write, status, and what lies under them. */
export function simulationRoutes(world: World): Route[] {
  const fields = simulationFields(world);
  return [
    {
      method: "POST",
      path: "/exercises/search",
      answer: ({ actor, body, now }) =>
        ok(searchRows(seen(world, actor), fields, body, PLAN_RULES, (row) => simulationRow(world, row, now))),
    },
    {
      method: "POST",
      path: "/exercises",
      answer: ({ actor, body, now }) => {
        need(holds(actor, "MANAGE_ASSESSMENT"));
        const input = objectOf(body);
        const start = instantOf(input, "exercise_start_date");
        const name = textOf(input, "exercise_name");
        if (name === null || isBlank(name)) throw invalid({ exercise_name: "This value should not be blank." });
        const simulation: Simulation = {
          ...emptySimulation(actor.tenant, null, name, now),
          description: textOf(input, "exercise_description"),
          category: textOf(input, "exercise_category"),
          mainFocus: textOf(input, "exercise_main_focus"),
          severity: wordOf(input, "exercise_severity", SEVERITIES),
          start,
          tags: tagsOf(world, actor.tenant, input, "exercise_tags"),
        };
        world.simulations.set(simulation.id, simulation);
        return ok(simulationEntity(simulation));
      },
    },
    {
      method: "GET",
      path: "/exercises/{id}",
      answer: ({ actor, ids: [id = ""] }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const simulation = world.simulations.get(id);
        if (simulation === undefined) throw notFound("Simulation not found");
        return ok(simulationDetails(world, simulation));
      },
    },
    {
      method: "DELETE",
      path: "/exercises/{id}",
      answer: ({ actor, ids: [id = ""] }) => {
        need(may(actor, "DELETE_ASSESSMENT", id, "PLANNER"));
        const simulation = world.simulations.get(id);
        if (simulation === undefined) throw notFound("Exercise not found");
        // With people enabled the first deletion is answered and does nothing;
        // one with both media pressure and attacks is never deleted.
        if (simulation.teamUsers.length > 0 && simulation.deletions++ === 0) return ok();
        const types = new Set(rowsOf(world.injects, simulation.injects).map(({ contract }) => contract.type));
        if (types.has("openaev_channel") && types.has("openaev_implant")) throw new Bare(500);
        for (const inject of simulation.injects) world.injects.delete(inject);
        world.simulations.delete(id);
        const scenario = world.scenarios.get(simulation.scenario ?? "");
        if (scenario !== undefined) scenario.simulations = scenario.simulations.filter((other) => other !== id);
        return ok();
      },
    },
    {
      method: "PUT",
      path: "/exercises/{id}/status",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "LAUNCH_ASSESSMENT", id, "LAUNCHER"));
        const status = wordOf(objectOf(body), "exercise_status", STATUSES);
        const simulation = world.simulations.get(id);
        if (simulation === undefined) throw notFound(null);
        if (simulation.tenant !== actor.tenant || status === null) throw new Bare(500);
        if (!setStatus(world, simulation, status, now)) throw new Bare(500);
        return ok(simulationEntity(simulation));
      },
    },
    {
      method: "GET",
      path: "/exercises/{id}/results",
      answer: ({ actor, ids: [id = ""], now }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const simulation = world.simulations.get(id);
        return ok(simulation === undefined ? [] : simulationResults(world, simulation, now));
      },
    },
    {
      method: "POST",
      path: "/exercises/{id}/injects/simple",
      answer: ({ actor, ids: [id = ""], body }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const injects = rowsOf(world.injects, world.simulations.get(id)?.injects ?? []);
        return ok(searchRows(injects, INJECT_FIELDS, body, { silent: true }, scenarioInjectRow));
      },
    },
    {
      method: "POST",
      path: "/exercises/{id}/injects/search",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const injects = rowsOf(world.injects, world.simulations.get(id)?.injects ?? []);
        return ok(searchRows(injects, INJECT_FIELDS, body, {}, (row) => simulationInjectRow(world, row, now)));
      },
    },
  ];
}

/** A scenario's grant does not reach its simulations. */
function seen(world: World, actor: Actor): Simulation[] {
  const all = holds(actor, "ACCESS_ASSESSMENT");
  return [...world.simulations.values()].filter(
    ({ id, tenant }) => tenant === actor.tenant && (all || actor.user.grants.has(id)),
  );
}

/** Puts a simulation of a scenario, with copies of its injects, into the world. */
export function copyOf(world: World, scenario: Scenario, now: number): Simulation {
  const simulation: Simulation = {
    ...emptySimulation(scenario.tenant, scenario.id, scenario.name, now),
    description: scenario.description,
    category: scenario.category,
    mainFocus: scenario.mainFocus,
    severity: scenario.severity,
    replyTo: [...scenario.replyTo],
    tags: [...scenario.tags],
    teams: [...scenario.teams],
    teamUsers: [...scenario.teamUsers],
  };
  for (const inject of rowsOf(world.injects, scenario.injects)) {
    const id = randomUUID();
    world.injects.set(id, {
      ...inject,
      id,
      scenario: null,
      simulation: simulation.id,
      status: null,
      expectations: [],
      createdAt: now,
      updatedAt: now,
    });
    simulation.injects.push(id);
  }
  world.simulations.set(simulation.id, simulation);
  scenario.simulations.push(simulation.id);
  // Grants are copied once: those that are given later do not reach what was launched before.
  for (const { grants } of world.users.values()) {
    const level = grants.get(scenario.id);
    if (level !== undefined) grants.set(simulation.id, level);
  }
  return simulation;
}

function emptySimulation(tenant: string, scenario: string | null, name: string, now: number): Simulation {
  return {
    id: randomUUID(),
    tenant,
    scenario,
    name,
    description: null,
    category: null,
    mainFocus: null,
    severity: null,
    status: "SCHEDULED",
    start: null,
    end: null,
    pausedAt: null,
    pausedMs: 0,
    replyTo: ["contact@sallyport.example"],
    tags: [],
    teams: [],
    teamUsers: [],
    injects: [],
    deletions: 0,
    createdAt: now,
    updatedAt: now,
  };
}
