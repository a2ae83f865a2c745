import { randomUUID } from "node:crypto";
import { objectOf, shortTextOf, textOf } from "../input.js";
import type { Entry } from "../kinds/kind.js";
import { Bare, notFound, ok } from "../replies.js";
import { may, need } from "../rights.js";
import { iso } from "../views/scenarios.js";
import type { World } from "../world.js";
import type { Route } from "./route.js";

const KEY = /^[a-z_]+$/;

/** The variables of scenarios and simulations; by id they are taken through any parent. */
export function variableRoutes(world: World): Route[] {
  const shelf = (): Map<string, Entry> => {
    const own = world.entries.get("variables") ?? new Map<string, Entry>();
    world.entries.set("variables", own);
    return own;
  };
  const byId = (id: string): Entry => {
    const entry = shelf().get(id);
    if (entry === undefined) throw notFound(`Variable not found with id: ${id}`);
    return entry;
  };
  const valuesOf = (body: unknown) => {
    const input = objectOf(body);
    const key = textOf(input, "variable_key");
    if (key === null || !KEY.test(key)) throw new Bare(400);
    return {
      variable_key: key,
      variable_value: shortTextOf(input, "variable_value"),
      variable_description: textOf(input, "variable_description"),
    };
  };

  return (["scenarios", "exercises"] as const).flatMap((plans): Route[] => {
    const field = plans === "scenarios" ? "variable_scenario" : "variable_exercise";
    const path = `/${plans}/{plan}/variables`;
    return [
      {
        method: "GET",
        path,
        answer: ({ actor, ids: [plan = ""] }) => {
          need(may(actor, "ACCESS_ASSESSMENT", plan, "OBSERVER"));
          return ok([...shelf().values()].filter(({ values }) => values[field] === plan).map(view));
        },
      },
      {
        method: "POST",
        path,
        answer: ({ actor, ids: [plan = ""], body, now }) => {
          need(may(actor, "MANAGE_ASSESSMENT", plan, "PLANNER"));
          const given = valuesOf(body);
          const owner = plans === "scenarios" ? world.scenarios.get(plan) : world.simulations.get(plan);
          if (owner === undefined) throw notFound(plans === "scenarios" ? "Scenario not found" : null);
          const none = { variable_scenario: null, variable_exercise: null };
          const values = { ...given, variable_type: "String", ...none, [field]: plan };
          const entry = { id: randomUUID(), tenant: owner.tenant, values, createdAt: now, updatedAt: now };
          shelf().set(entry.id, entry);
          return ok(view(entry));
        },
      },
      {
        method: "PUT",
        path: `${path}/{id}`,
        answer: ({ actor, ids: [plan = "", id = ""], body, now }) => {
          need(may(actor, "MANAGE_ASSESSMENT", plan, "PLANNER"));
          const given = valuesOf(body);
          const before = byId(id);
          const after = { ...before, values: { ...before.values, ...given }, updatedAt: now };
          shelf().set(id, after);
          return ok(view(after));
        },
      },
      {
        method: "DELETE",
        path: `${path}/{id}`,
        answer: ({ actor, ids: [plan = "", id = ""] }) => {
          need(may(actor, "MANAGE_ASSESSMENT", plan, "PLANNER"));
          byId(id);
          shelf().delete(id);
          return ok();
        },
      },
    ];
  });
}

function view({ id, values, createdAt, updatedAt }: Entry): unknown {
  return {
    listened: true,
    variable_id: id,
    ...values,
    variable_created_at: iso(createdAt),
    variable_updated_at: iso(updatedAt),
  };
}
