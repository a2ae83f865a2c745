import { randomUUID } from "node:crypto";
import { type Body, isBlank, objectOf, tagsOf, textOf, textsOf, wordOf } from "../input.js";
import { Bare, invalid, notFound, ok } from "../replies.js";
import { type Actor, holds, may, need } from "../rights.js";
import { nextMinute } from "../runs.js";
import { searchRows } from "../search.js";
import { INJECT_FIELDS, PLAN_RULES, scenarioFields, simulationFields } from "../views/fields.js";
import { scenarioInjectRow } from "../views/injects.js";
import { scenarioEntity, scenarioOutput, scenarioRow } from "../views/scenarios.js";
import { simulationEntity, simulationRow } from "../views/simulations.js";
import { rowsOf, type Scenario, type World } from "../world.js";
import type { Exchange, Route } from "./route.js";
import { copyOf } from "./simulations.js";

const SEVERITIES = ["low", "medium", "high", "critical"] as const;

/** Scenarios: search, read, write, launch, and what lies under them. */
export function scenarioRoutes(world: World): Route[] {
  const fields = scenarioFields(world);
  const exercises = simulationFields(world);

  /** Looked up in every tenant, so that what confines a tool to one is its own check. */
  const byId = (id: string | undefined): Scenario => {
    const scenario = world.scenarios.get(id ?? "");
    if (scenario === undefined) throw notFound("Scenario not found");
    return scenario;
  };
  const toChange = (actor: Actor, id: string): Scenario => {
    const scenario = byId(id);
    // The platform fails when an object of another tenant is changed.
    if (scenario.tenant !== actor.tenant) throw new Bare(500);
    return scenario;
  };

  return [
    {
      method: "POST",
      path: "/scenarios/search",
      answer: ({ actor, body }) =>
        ok(searchRows(seen(world, actor), fields, body, PLAN_RULES, (row) => scenarioRow(world, row))),
    },
    {
      method: "POST",
      path: "/scenarios",
      answer: ({ actor, body, now }) => {
        need(holds(actor, "MANAGE_ASSESSMENT"));
        const input = objectOf(body);
        const name = textOf(input, "scenario_name");
        if (name === null || isBlank(name)) throw invalid({ scenario_name: "This value should not be blank." });
        const scenario = emptyScenario(actor.tenant, name, now);
        fill(world, scenario, input, now);
        if (textsOf(input, "scenario_mails_reply_to").length === 0) scenario.replyTo = ["contact@sallyport.example"];
        world.scenarios.set(scenario.id, scenario);
        return ok({ ...(scenarioEntity(world, scenario) as object), scenario_exercises: null });
      },
    },
    {
      method: "GET",
      path: "/scenarios/{id}",
      answer: ({ actor, ids: [id = ""] }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        return ok(scenarioOutput(world, byId(id)));
      },
    },
    {
      method: "PUT",
      path: "/scenarios/{id}",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "MANAGE_ASSESSMENT", id, "PLANNER"));
        const input = objectOf(body);
        if (isBlank(textOf(input, "scenario_name") ?? "")) throw new Bare(400);
        const scenario = toChange(actor, id);
        fill(world, scenario, input, now);
        return ok(scenarioEntity(world, scenario));
      },
    },
    {
      method: "PUT",
      path: "/scenarios/{id}/tags",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "MANAGE_ASSESSMENT", id, "PLANNER"));
        const scenario = toChange(actor, id);
        scenario.tags = tagsOf(world, scenario.tenant, objectOf(body), "scenario_tags");
        scenario.updatedAt = now;
        return ok(scenarioEntity(world, scenario));
      },
    },
    {
      method: "DELETE",
      path: "/scenarios/{id}",
      answer: ({ actor, ids: [id = ""] }) => {
        need(may(actor, "DELETE_ASSESSMENT", id, "PLANNER"));
        for (const user of world.users.values()) user.grants.delete(id);
        // Also where there is none.
        const scenario = world.scenarios.get(id);
        for (const inject of scenario?.injects ?? []) world.injects.delete(inject);
        world.scenarios.delete(id);
        return ok();
      },
    },
    {
      method: "POST",
      path: "/scenarios/{id}/exercise/running",
      answer: (exchange) => launch(world, exchange, toChange),
    },
    {
      method: "POST",
      path: "/scenarios/{id}/injects/simple",
      answer: ({ actor, ids: [id = ""], body }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const injects = rowsOf(world.injects, world.scenarios.get(id)?.injects ?? []);
        return ok(searchRows(injects, INJECT_FIELDS, body, { silent: true }, scenarioInjectRow));
      },
    },
    {
      method: "POST",
      path: "/scenarios/{id}/exercises/search",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const rows = rowsOf(world.simulations, world.scenarios.get(id)?.simulations ?? []);
        return ok(searchRows(rows, exercises, body, { silent: true }, (row) => simulationRow(world, row, now)));
      },
    },
  ];
}

/** The scenarios of the tenant that the caller may see. */
function seen(world: World, actor: Actor): Scenario[] {
  const all = holds(actor, "ACCESS_ASSESSMENT");
  return [...world.scenarios.values()].filter(
    ({ id, tenant }) => tenant === actor.tenant && (all || actor.user.grants.has(id)),
  );
}

function launch(
  world: World,
  { actor, ids: [id = ""], now }: Exchange,
  toChange: (actor: Actor, id: string) => Scenario,
): ReturnType<Route["answer"]> {
  need(may(actor, "LAUNCH_ASSESSMENT", id, "LAUNCHER"));
  const scenario = toChange(actor, id);
  const simulation = copyOf(world, scenario, now);
  simulation.status = "RUNNING";
  simulation.start = nextMinute(now);
  return ok(simulationEntity(simulation));
}

/** Takes over every field of an input: what it leaves out becomes empty. */
function fill(world: World, scenario: Scenario, input: Body, now: number): void {
  const severity = wordOf(input, "scenario_severity", SEVERITIES);
  scenario.name = textOf(input, "scenario_name") as string;
  scenario.description = textOf(input, "scenario_description");
  scenario.subtitle = textOf(input, "scenario_subtitle");
  scenario.category = textOf(input, "scenario_category");
  scenario.mainFocus = textOf(input, "scenario_main_focus");
  scenario.severity = severity;
  scenario.externalReference = textOf(input, "scenario_external_reference");
  scenario.externalUrl = textOf(input, "scenario_external_url");
  scenario.header = textOf(input, "scenario_message_header");
  scenario.footer = textOf(input, "scenario_message_footer");
  scenario.mailFromName = textOf(input, "scenario_mail_from_name") ?? "no-reply";
  scenario.replyTo = textsOf(input, "scenario_mails_reply_to");
  scenario.customDashboard = textOf(input, "scenario_custom_dashboard");
  scenario.tags = tagsOf(world, scenario.tenant, input, "scenario_tags");
  scenario.updatedAt = now;
}

function emptyScenario(tenant: string, name: string, now: number): Scenario {
  return {
    id: randomUUID(),
    tenant,
    name,
    description: null,
    subtitle: null,
    category: null,
    mainFocus: null,
    severity: null,
    externalReference: null,
    externalUrl: null,
    recurrence: null,
    header: null,
    footer: null,
    mailFromName: "no-reply",
    replyTo: [],
    customDashboard: null,
    tags: [],
    teams: [],
    teamUsers: [],
    injects: [],
    simulations: [],
    createdAt: now,
    updatedAt: now,
  };
}
