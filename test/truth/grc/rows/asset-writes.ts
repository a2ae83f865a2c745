import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { LISTS } from "../seen.js";
import type { Stage } from "../stage.js";
import { admin, cannot, changedBy, refusedWithoutTrace } from "./writing.js";

const WRITERS = ["administrator", "analyst", "both"] as const;

async function freshAsset(stage: Stage, more: object = {}): Promise<string> {
  const name = `Asset to write ${stage.world.run} ${Math.random()}`;
  return (await admin(stage, "POST", LISTS.asset, { name, folder: stage.world.ids.alpha, type: "SP", ...more })).id;
}

/** Tools that write assets. */
export const assetWriteTruths: readonly Truth<Stage>[] = [
  {
    tool: "create_asset",
    cases: [
      {
        about: "creates one in the tenant, as it was said",
        as: WRITERS,
        async prove(stage, person) {
          const { ids, run } = stage.world;
          const name = `Asset of ${person} ${run}`;
          const args = {
            tenant_id: ids.alpha,
            name,
            type: "supporting",
            parent_asset_ids: [ids.asset0],
            link: "https://a.example",
          };
          const { said, changes, after } = await changedBy(stage, person, "create_asset", args);
          expect(said.refusal).toBe("");
          const made = said.result!.asset as Row;
          expect(changes.filter((one) => /^[+-]/.test(one))).toEqual([`+${made.id}`]);
          expect(after.get(made.id)).toMatchObject({ name, type: "Support", folder: { id: ids.alpha } });
          const direct: Row = await admin(stage, "GET", `${LISTS.asset}${made.id}/`);
          expect(direct.reference_link).toBe("https://a.example");
          expect((direct.parent_assets as Row[]).map(({ id }) => id)).toEqual([ids.asset0]);
          await refusedWithoutTrace(
            stage,
            person,
            "create_asset",
            args,
            /another object of this domain already uses it/,
          );
          const foreign = { ...args, name: `${name} 2`, parent_asset_ids: [ids.asset3] };
          await refusedWithoutTrace(stage, person, "create_asset", foreign, /parent_asset_ids/);
        },
      },
      // Who manages the other tenant may make one there, and is asked for this one.
      cannot("create_asset", ({ world }) => ({ tenant_id: world.ids.alpha, name: `No ${world.run}`, type: "primary" })),
    ],
  },
  {
    tool: "update_asset",
    cases: [
      {
        about: "changes what was said, and nothing else; a circle is refused",
        as: WRITERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          const id = await freshAsset(stage, { parent_assets: [ids.asset0] });
          const args = { tenant_id: ids.alpha, asset_id: id, description: `By ${person}` };
          const { said, changes } = await changedBy(stage, person, "update_asset", args);
          expect(said.refusal).toBe("");
          expect(changes).toEqual([`${id}.description`]);
          const circle = { tenant_id: ids.alpha, asset_id: ids.asset0, parent_asset_ids: [id] };
          await refusedWithoutTrace(stage, person, "update_asset", circle, /cycle/i);
          const clear = { tenant_id: ids.alpha, asset_id: id, clear_parent_assets: true };
          const next = await changedBy(stage, person, "update_asset", clear);
          expect(next.changes).toEqual([`${id}.parent_assets`]);
        },
      },
      cannot("update_asset", ({ world }) => ({ asset_id: world.ids.asset0, description: "No" })),
    ],
  },
  {
    tool: "delete_asset",
    cases: [
      {
        about: "deletes one, and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await freshAsset(stage);
          const args = { tenant_id: stage.world.ids.alpha, asset_id: id };
          const { said, changes } = await changedBy(stage, person, "delete_asset", args);
          expect(said.refusal).toBe("");
          expect(changes).toEqual([`-${id}`]);
        },
      },
      cannot("delete_asset", ({ world }) => ({ asset_id: world.ids.asset0 })),
    ],
  },
];
