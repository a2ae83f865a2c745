import { randomUUID } from "node:crypto";
import { type Body, objectOf, tagsOf, textOf, textsOf } from "../input.js";
import { Bare, invalid, notFound, ok, refusal } from "../replies.js";
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
import { type Inject, rowsOf, type World } from "../world.js";
import type { Exchange, Route } from "./route.js";

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

interface Access {
  writable(actor: Actor, id: string | undefined): Inject;
}

function planRoutes(world: World, plans: "scenarios" | "exercises", { writable }: Access): Route[] {
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

/** Whose rights an inject's are; an atomic test's are its own. */
export function parentOf({ scenario, simulation, id }: Inject): string {
  return scenario ?? simulation ?? id;
}

/**
 * The input of a write of an inject.
 *
 * @param isSilent the refusal says no reason.
 * @throws Bare or Refusal 400 where it has no title.
 */
export function titled(body: unknown, isSilent: boolean): Body {
  const input = objectOf(body);
  if ((textOf(input, "inject_title") ?? "").trim() !== "") return input;
  throw isSilent ? new Bare(400) : invalid({ inject_title: "must not be blank" });
}

/** An inject made of an input. @throws Refusal 404 for a contract that there is not. */
export function newInject(
  world: World,
  tenant: string,
  of: Pick<Inject, "scenario" | "simulation">,
  input: Body,
  now: number,
): Inject {
  const contract = world.contracts.get(textOf(input, "inject_injector_contract") ?? "");
  if (contract === undefined) throw notFound("Injector contract not found");
  const inject: Inject = {
    ...of,
    id: randomUUID(),
    tenant,
    title: "",
    contract,
    delaySeconds: 0,
    enabled: true,
    teams: [],
    assets: [],
    assetGroups: [],
    tags: [],
    status: null,
    expectations: [],
    createdAt: now,
    updatedAt: now,
  };
  return fill(world, inject, input, now);
}

/** A copy of an inject, which has not run. */
export function copyOfInject(inject: Inject, of: Pick<Inject, "scenario" | "simulation">, now: number): Inject {
  return {
    ...inject,
    ...of,
    id: randomUUID(),
    title: `${inject.title} (duplicate)`,
    status: null,
    triggeredAt: null,
    expectations: [],
    createdAt: now,
    updatedAt: now,
  };
}

/** Takes over every field of an input: what it leaves out becomes empty, and ids of nothing are dropped. */
export function fill(world: World, inject: Inject, input: Body, now: number): Inject {
  const { content = null } = { content: input.inject_content as Record<string, unknown> | null | undefined };
  const ids = (map: ReadonlyMap<string, { readonly id: string }>, key: string) =>
    rowsOf(map, textsOf(input, key)).map(({ id }) => id);
  inject.title = textOf(input, "inject_title") as string;
  inject.contract = world.contracts.get(textOf(input, "inject_injector_contract") ?? "") ?? inject.contract;
  inject.delaySeconds = Number(input.inject_depends_duration ?? inject.delaySeconds);
  inject.enabled = input.inject_enabled !== false;
  inject.teams = ids(world.teams, "inject_teams");
  inject.assets = ids(world.endpoints, "inject_assets");
  inject.assetGroups = ids(world.assetGroups, "inject_asset_groups");
  inject.tags = input.inject_tags == null ? [] : tagsOf(world, inject.tenant, input, "inject_tags");
  inject.details = {
    description: textOf(input, "inject_description"),
    content: content ?? null,
    allTeams: input.inject_all_teams === true,
    country: textOf(input, "inject_country"),
    city: textOf(input, "inject_city"),
    dependsOn: (input.inject_depends_on as unknown[] | undefined) ?? [],
    documents: (input.inject_documents as { document_id: string; document_attached: boolean }[] | undefined) ?? [],
  };
  inject.updatedAt = now;
  return inject;
}

function tracesOf(world: World, inject: Inject, type: string, target: string | null): object[] {
  const endpoints = endpointsOf(world, inject).filter((endpoint) =>
    type === "ASSETS" ? endpoint.id === target : type === "AGENT" && endpoint.agent?.id === target,
  );
  return endpoints.flatMap((endpoint) => endpointTraces(inject, endpoint));
}
