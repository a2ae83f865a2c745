import { randomUUID } from "node:crypto";
import { textOf } from "../input.js";
import { Bare, notFound, ok } from "../replies.js";
import { type Actor, holds, may, need } from "../rights.js";
import { type Fields, searchRows } from "../search.js";
import { INJECT_FIELDS } from "../views/fields.js";
import { injectRead } from "../views/inject.js";
import { simulationInjectRow } from "../views/injects.js";
import { resultsOf } from "../views/results.js";
import { type Inject, rowsOf, type World } from "../world.js";
import { copyOfInject, fill, newInject, parentOf, titled } from "./inject-input.js";
import type { Route } from "./route.js";

const PATH = "/atomic-testings";
const ALONE = { scenario: null, simulation: null };
const FIELDS: Fields<Inject> = INJECT_FIELDS;

/** Injects that are run by themselves. All but the search take any inject's id. */
export function atomicTestRoutes(world: World): Route[] {
  const found = (actor: Actor, id: string | undefined, right: string, level: "OBSERVER" | "PLANNER"): Inject => {
    const inject = world.injects.get(id ?? "");
    if (inject === undefined) throw notFound(`Inject not found with id: ${id}`);
    need(may(actor, right, parentOf(inject), level));
    return inject;
  };
  const writable = (actor: Actor, id: string | undefined): Inject => {
    const inject = found(actor, id, "MANAGE_ASSESSMENT", "PLANNER");
    if (inject.tenant !== actor.tenant) throw new Bare(500);
    return inject;
  };
  /** A launch takes what it is asked for at once; the platform looks for it on the full minute. */
  const start = (inject: Inject, now: number): Inject => {
    inject.status = { id: randomUUID(), name: "QUEUING", sentAt: now, endAt: null };
    inject.expectations = [];
    inject.triggeredAt = now;
    inject.updatedAt = now;
    return inject;
  };
  const seen = (actor: Actor): Inject[] => {
    const all = holds(actor, "ACCESS_ASSESSMENT");
    return [...world.injects.values()].filter(
      ({ id, tenant, scenario, simulation }) =>
        tenant === actor.tenant && scenario === null && simulation === null && (all || actor.user.grants.has(id)),
    );
  };

  return [
    {
      method: "POST",
      path: `${PATH}/search`,
      answer: ({ actor, body, now }) =>
        ok(searchRows(seen(actor), FIELDS, body, { placesNulls: true }, (row) => simulationInjectRow(world, row, now))),
    },
    {
      method: "POST",
      path: PATH,
      answer: ({ actor, body, now }) => {
        need(holds(actor, "MANAGE_ASSESSMENT"));
        const input = titled(body, false);
        if (!world.contracts.has(textOf(input, "inject_injector_contract") ?? "")) throw notFound(null);
        const inject = newInject(world, actor.tenant, ALONE, input, now);
        world.injects.set(inject.id, inject);
        return ok(overview(world, inject, now));
      },
    },
    {
      method: "GET",
      path: `${PATH}/{id}`,
      answer: ({ actor, ids: [id], now }) =>
        ok(overview(world, found(actor, id, "ACCESS_ASSESSMENT", "OBSERVER"), now)),
    },
    {
      method: "PUT",
      path: `${PATH}/{id}`,
      answer: ({ actor, ids: [id], body, now }) => {
        const inject = writable(actor, id);
        const input = titled(body, true);
        if (!world.contracts.has(textOf(input, "inject_injector_contract") ?? "")) throw notFound(null);
        return ok(overview(world, fill(world, inject, input, now), now));
      },
    },
    {
      method: "DELETE",
      path: `${PATH}/{id}`,
      answer: ({ actor, ids: [id] }) => {
        world.injects.delete(writable(actor, id).id);
        return ok();
      },
    },
    {
      method: "POST",
      path: `${PATH}/{id}/launch`,
      answer: ({ actor, ids: [id], now }) => ok(overview(world, start(writable(actor, id), now), now)),
    },
    {
      method: "POST",
      path: `${PATH}/{id}/relaunch`,
      answer: ({ actor, ids: [id], now }) => {
        const before = writable(actor, id);
        const copy = { ...copyOfInject(before, ALONE, now), title: before.title };
        world.injects.delete(before.id);
        world.injects.set(copy.id, copy);
        for (const { grants } of world.users.values()) {
          const level = grants.get(before.id);
          if (level !== undefined) grants.set(copy.id, level);
        }
        return ok(overview(world, start(copy, now), now));
      },
    },
  ];
}

/** What reads and writes of an atomic test answer. */
function overview(world: World, inject: Inject, now: number): unknown {
  const row = simulationInjectRow(world, inject, now) as Record<string, unknown>;
  const read = injectRead(inject) as Record<string, unknown>;
  const isReady = inject.assets.length + inject.assetGroups.length + inject.teams.length > 0;
  return {
    ready: isReady,
    inject_id: inject.id,
    inject_title: inject.title,
    inject_description: read.inject_description,
    inject_content: read.inject_content,
    inject_type: inject.contract.type,
    injects_tags: rowsOf(world.tags, inject.tags).map(({ id }) => id),
    injects_documents: [],
    inject_injector_contract: row.inject_injector_contract,
    inject_status: row.inject_status,
    inject_expectations: [],
    inject_kill_chain_phases: [],
    inject_tags: inject.tags,
    inject_ready: isReady,
    inject_updated_at: read.inject_updated_at,
    inject_expectation_results: resultsOf(inject.expectations, now),
  };
}
