import { Bare, notFound, ok, refusal } from "../replies.js";
import { type Actor, may, need } from "../rights.js";
import { endpointsOf } from "../runs.js";
import { type Fields, searchRows } from "../search.js";
import {
  endpointTraces,
  injectRead,
  injectWritten,
  statusView,
  type TargetRow,
  targetRows,
  targetView,
} from "../views/inject.js";
import type { Inject, World } from "../world.js";
import { fill, parentOf, titled } from "./inject-input.js";
import { planRoutes } from "./plan-injects.js";
import type { Route } from "./route.js";

const TARGETS = ["AGENT", "ASSETS", "ASSETS_GROUPS", "TEAMS", "PLAYERS"];

const TARGET_FIELDS: Fields<TargetRow> = {
  target_name: { of: (row) => row.name, sort: true, text: true },
};

/** One inject: read, written, run. */
export function injectRoutes(world: World): Route[] {
  /** An inject is looked up before rights are, in every tenant. */
  const byId = (id: string | null | undefined): Inject => {
    const inject = world.injects.get(id ?? "");
    if (inject === undefined) throw notFound(`Inject not found with id: ${id}`);
    return inject;
  };
  const readable = (actor: Actor, id: string | null | undefined): Inject => {
    const inject = byId(id);
    need(may(actor, "ACCESS_ASSESSMENT", parentOf(inject), "OBSERVER"));
    return inject;
  };
  /** Whatever is no read is a write of what the inject is a step of, a launch too. */
  const writable = (actor: Actor, id: string | undefined): Inject => {
    const inject = byId(id);
    need(may(actor, "MANAGE_ASSESSMENT", parentOf(inject), "PLANNER"));
    return inject;
  };

  return [
    {
      method: "GET",
      path: "/injects/status",
      answer: ({ actor, query }) => {
        if (!query.has("injectId")) throw new Bare(400);
        return ok(statusView(world, readable(actor, query.get("injectId"))));
      },
    },
    {
      method: "GET",
      path: "/injects/execution-traces",
      answer: ({ actor, query }) => {
        const inject = readable(actor, query.get("injectId"));
        const type = query.get("targetType") ?? "";
        if (!TARGETS.includes(type)) throw refusal(400, `No enum constant io.openaev.utils.TargetType.${type}`);
        if (type === "ASSETS_GROUPS") throw refusal(400, "Target type ASSETS_GROUPS is not supported");
        return ok(tracesOf(world, inject, type, query.get("targetId")));
      },
    },
    {
      method: "GET",
      path: "/injects/{id}",
      answer: ({ actor, ids: [id] }) => ok(injectRead(readable(actor, id))),
    },
    {
      method: "GET",
      path: "/injects/{id}/execution-result",
      answer: ({ actor, ids: [id], query }) => {
        const inject = readable(actor, id);
        const type = query.get("targetType") ?? "";
        if (!TARGETS.includes(type)) throw refusal(400, `No enum constant io.openaev.utils.TargetType.${type}`);
        if (inject.status === null) throw notFound(`Inject status not found for :${id}`);
        const traces = tracesOf(world, inject, type, query.get("targetId"));
        const agents = new Map<string, object[]>();
        for (const one of traces as { execution_agent?: { agent_id: string }; execution_action: string }[]) {
          const agent = one.execution_agent?.agent_id;
          if (agent === undefined) continue;
          agents.set(agent, [...(agents.get(agent) ?? []), ...(one.execution_action === "EXECUTION" ? [one] : [])]);
        }
        const implant = inject.contract.type === "openaev_implant";
        const block = {
          command_executor: "sh",
          command_content: `run ${inject.contract.label}`,
          payload_cleanup_command: [],
        };
        return ok({ payload_command_blocks: implant ? [block] : [], execution_traces: Object.fromEntries(agents) });
      },
    },
    {
      method: "POST",
      path: "/injects/{id}/targets/{type}/search",
      answer: ({ actor, ids: [id, type = ""], body, now }) => {
        const inject = readable(actor, id);
        if (!TARGETS.includes(type)) throw refusal(400, `Invalid target type ${type}`);
        // People are looked for in its simulation.
        if (inject.scenario !== null && ["TEAMS", "PLAYERS"].includes(type)) throw new Bare(500);
        const rows = targetRows(world, inject, type);
        return ok(searchRows(rows, TARGET_FIELDS, body, {}, (row) => targetView(inject, row, now)));
      },
    },
    {
      method: "PUT",
      path: "/injects/{parent}/{id}",
      answer: ({ actor, ids: [parent = "", id], body, now }) => {
        // It is the simulation of the path alone whose right is asked for.
        need(may(actor, "MANAGE_ASSESSMENT", parent, "PLANNER"));
        if (!world.simulations.has(parent)) throw notFound(null);
        const inject = world.injects.get(id ?? "");
        const input = titled(body, false);
        if (inject === undefined) throw notFound(null);
        if (inject.tenant !== actor.tenant) throw new Bare(500);
        return ok(injectWritten(world, fill(world, inject, input, now), now));
      },
    },
    ...(["scenarios", "exercises"] as const).flatMap((plans) => planRoutes(world, plans, { writable })),
  ];
}

function tracesOf(world: World, inject: Inject, type: string, target: string | null): object[] {
  const endpoints = endpointsOf(world, inject).filter((endpoint) =>
    type === "ASSETS" ? endpoint.id === target : type === "AGENT" && endpoint.agent?.id === target,
  );
  return endpoints.flatMap((endpoint) => endpointTraces(inject, endpoint));
}
