import { objectOf, textsOf } from "../input.js";
import type { Values } from "../kinds/kind.js";
import { notFound, ok, type Reply, refusal } from "../replies.js";
import { type Actor, holds, need } from "../rights.js";
import { searchRows } from "../search.js";
import { endpointRow, meeting } from "../views/catalogue.js";
import { ENDPOINT_FIELDS } from "../views/fields.js";
import { rowsOf, type World } from "../world.js";
import type { Answer, Route } from "./route.js";

/**
 * What an asset group holds; the groups themselves are a kind of the table,
 * whose answers are given. The answer to a change of a group tells once more
 * what met its conditions, where they are cleared.
 */
export function assetGroupRoutes(
  world: World,
  { get: read, update }: Readonly<Record<"get" | "update", Answer>>,
): Route[] {
  const path = "/asset_groups/{id}/assets";
  const rowsHere = ({ tenant }: Actor) => [...world.endpoints.values()].filter((one) => one.tenant === tenant);
  const needed = (actor: Actor, right: string) => need(holds(actor, `${right}_ASSETS`));
  return [
    {
      method: "PUT",
      path: "/asset_groups/{id}",
      answer: (exchange) => {
        const before = world.assetGroups.get(exchange.ids[0] ?? "");
        const met = before === undefined ? [] : meeting(rowsHere(exchange.actor), before).map(({ id }) => id);
        const reply = update(exchange) as Reply;
        const group = reply.body as Values;
        const { filters = [] } = (group.asset_group_dynamic_filter ?? {}) as { readonly filters?: readonly unknown[] };
        return filters.length > 0 ? reply : ok({ ...group, asset_group_dynamic_assets: met });
      },
    },
    {
      method: "PUT",
      path,
      answer: (exchange) => {
        const {
          actor,
          ids: [id = ""],
          body,
          now,
        } = exchange;
        needed(actor, "MANAGE");
        const group = world.assetGroups.get(id);
        if (group === undefined) throw notFound(`Asset group not found: ${id}`);
        const assets = textsOf(objectOf(body), "asset_group_assets").filter((asset) => world.endpoints.has(asset));
        world.assetGroups.set(id, { ...group, assets, updatedAt: now });
        return read(exchange);
      },
    },
    {
      method: "POST",
      path: `${path}/search`,
      answer: ({ actor, ids: [id = ""], body }) => {
        needed(actor, "ACCESS");
        const group = world.assetGroups.get(id);
        if (group === undefined) throw refusal(400, `Asset group not found: ${id}`);
        const rows = [...new Set([...rowsOf(world.endpoints, group.assets), ...meeting(rowsHere(actor), group)])];
        const view = (row: (typeof rows)[number]) => ({
          ...(endpointRow(row) as object),
          is_static: group.assets.includes(row.id),
        });
        return ok(searchRows(rows, ENDPOINT_FIELDS, body, { silent: true }, view));
      },
    },
  ];
}
