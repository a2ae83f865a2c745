import { notFound, ok } from "../replies.js";
import { may, need } from "../rights.js";
import type { World } from "../world.js";
import type { Route } from "./route.js";

/** What lies below scenarios and simulations, and files. */
export function contentRoutes(world: World): Route[] {
  return [
    {
      method: "GET",
      path: "/injects/{id}",
      answer: ({ actor, ids: [id = ""] }) => {
        // Looked up before rights are.
        const inject = world.injects.get(id);
        if (inject === undefined) throw notFound(`Inject not found with id: ${id}`);
        need(may(actor, "ACCESS_ASSESSMENT", inject.scenario ?? inject.simulation ?? "", "OBSERVER"));
        return ok({
          listened: true,
          inject_id: inject.id,
          inject_title: inject.title,
          inject_enabled: inject.enabled,
          inject_exercise: inject.simulation,
          inject_scenario: inject.scenario,
          inject_depends_duration: inject.delaySeconds,
          inject_tags: inject.tags,
        });
      },
    },
  ];
}
