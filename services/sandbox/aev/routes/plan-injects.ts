import { objectOf } from "../input.js";
import { Bare, notFound, ok } from "../replies.js";
import { type Actor, may, need } from "../rights.js";
import { injectRead, injectWritten } from "../views/inject.js";
import type { Inject, World } from "../world.js";
import { copyOfInject, fill, newInject, parentOf, titled } from "./inject-input.js";
import type { Exchange, Route } from "./route.js";

/** Finds an inject that the caller may change. */
export interface Access {
  writable(actor: Actor, id: string | undefined): Inject;
}

/** The injects of scenarios, or of simulations: added, copied, changed, run, taken away. */
export function planRoutes(world: World, plans: "scenarios" | "exercises", { writable }: Access): Route[] {
  const isScenario = plans === "scenarios";
  const inPlan = (inject: Inject, plan: string, id: string): Inject => {
    if ((isScenario ? inject.scenario : inject.simulation) === plan) return inject;
    throw notFound(`Inject not found with id: ${id} in ${isScenario ? "scenario" : "simulation"}: ${plan}`);
  };
  const planOf = (id: string) => (isScenario ? world.scenarios : world.simulations).get(id);
  const path = `/${plans}/{plan}/injects`;
  const add = (inject: Inject): Inject => {
    world.injects.set(inject.id, inject);
    planOf(parentOf(inject))?.injects.push(inject.id);
    return inject;
  };
  const change =
    (run: (inject: Inject, exchange: Exchange) => unknown): Route["answer"] =>
    (exchange) => {
      const [plan = "", id = ""] = exchange.ids;
      const inject = inPlan(writable(exchange.actor, id), plan, id);
      if (inject.tenant !== exchange.actor.tenant) throw new Bare(500);
      return ok(run(inject, exchange));
    };

  return [
    {
      method: "POST",
      path,
      answer: ({ actor, ids: [plan = ""], body, now }) => {
        need(may(actor, "MANAGE_ASSESSMENT", plan, "PLANNER"));
        const input = titled(body, isScenario);
        const owner = planOf(plan);
        if (owner === undefined) throw notFound(isScenario ? "Scenario not found" : null);
        const of = { scenario: isScenario ? plan : null, simulation: isScenario ? null : plan };
        return ok(injectWritten(world, add(newInject(world, owner.tenant, of, input, now)), now));
      },
    },
    {
      method: "POST",
      path: `${path}/{id}`,
      // The plan of the path is not compared with the inject's own.
      answer: ({ actor, ids: [plan = "", id], now }) => {
        const inject = writable(actor, id);
        if (planOf(plan) === undefined) throw notFound(null);
        const of = { scenario: isScenario ? plan : null, simulation: isScenario ? null : plan };
        return ok(injectWritten(world, add(copyOfInject(inject, of, now)), now));
      },
    },
    ...(isScenario
      ? [
          {
            method: "PUT" as const,
            path: `${path}/{id}`,
            answer: change((inject, { body, now }) =>
              injectWritten(world, fill(world, inject, titled(body, true), now), now),
            ),
          },
        ]
      : [
          {
            method: "PUT" as const,
            path: `${path}/{id}/trigger`,
            answer: change((inject, { now }) => {
              inject.triggeredAt = now;
              inject.updatedAt = now;
              return injectRead(inject);
            }),
          },
        ]),
    {
      method: "PUT",
      path: `${path}/{id}/activation`,
      answer: change((inject, { body, now }) => {
        inject.enabled = objectOf(body).inject_enabled === true;
        inject.updatedAt = now;
        return injectRead(inject);
      }),
    },
    {
      method: "DELETE",
      path: `${path}/{id}`,
      answer: ({ actor, ids: [plan = "", id = ""] }) => {
        need(may(actor, "MANAGE_ASSESSMENT", plan, "PLANNER"));
        const inject = world.injects.get(id);
        if (inject === undefined)
          throw notFound(`Inject not found with id: ${id} in ${isScenario ? "scenario" : "simulation"}: ${plan}`);
        inPlan(inject, plan, id);
        world.injects.delete(id);
        const owner = planOf(plan);
        if (owner !== undefined) owner.injects = owner.injects.filter((other) => other !== id);
        return ok();
      },
    },
  ];
}
