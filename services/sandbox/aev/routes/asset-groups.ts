import { objectOf, textsOf } from "../input.js";
import { notFound, ok, refusal } from "../replies.js";
import { type Actor, holds, need } from "../rights.js";
import { searchRows } from "../search.js";
import { endpointRow, meeting } from "../views/catalogue.js";
import { ENDPOINT_FIELDS } from "../views/fields.js";
import { rowsOf, type World } from "../world.js";
import type { Answer, Route } from "./route.js";

/** What an asset group holds; the groups themselves are a kind of the table, whose answers are given. */
export function assetGroupRoutes(world: World, read: Answer): Route[] {
  const path = "/asset_groups/{id}/assets";
  const needed = (actor: Actor, right: string) => need(holds(actor, `${right}_ASSETS`));
  return [
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
        const here = [...world.endpoints.values()].filter(({ tenant }) => tenant === actor.tenant);
        const rows = [...new Set([...rowsOf(world.endpoints, group.assets), ...meeting(here, group)])];
        const view = (row: (typeof rows)[number]) => ({
          ...(endpointRow(row) as object),
          is_static: group.assets.includes(row.id),
        });
        return ok(searchRows(rows, ENDPOINT_FIELDS, body, { silent: true }, view));
      },
    },
  ];
}
