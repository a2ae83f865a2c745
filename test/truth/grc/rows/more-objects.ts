import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { idOf, LISTS } from "../seen.js";
import type { Stage } from "../stage.js";
import { type Getter, hidden, ids, text, truthOfGetter } from "./objects.js";

const MORE: readonly Getter[] = [
  {
    tool: "get_asset",
    argument: "asset_id",
    member: "asset",
    path: LISTS.asset,
    keys: ["asset0", "asset1", "asset2", "asset3", "asset6"],
    same(told, direct) {
      expect(told.name).toBe(direct.name);
      expect(told.type).toBe(direct.type === "Primary" ? "primary" : "supporting");
      expect([told.ref_id, told.description]).toEqual([text(direct.ref_id), text(direct.description)]);
      expect(ids(told.parents)).toEqual(ids(direct.parent_assets));
      expect(ids(told.children)).toEqual(ids(direct.support_assets));
      const lists = [direct.parent_assets, direct.support_assets, direct.owner, direct.applied_controls];
      expect(told.hidden_links ?? 0).toBe(hidden(...lists));
      expect((told.domain as Row | undefined)?.id).toBe(idOf(direct.folder));
    },
  },
  {
    tool: "get_organization",
    argument: "organization_id",
    member: "organization",
    path: LISTS.entity,
    keys: ["entity", "betaEntity"],
    same(told, direct) {
      expect(told.name).toBe(direct.name);
      expect(told.active).toBe(direct.is_active);
      const figures = [told.dependency, told.penetration, told.maturity, told.trust];
      const { default_dependency, default_penetration, default_maturity, default_trust } = direct;
      expect(figures).toEqual([default_dependency, default_penetration, default_maturity, default_trust]);
      expect((told.domain as Row | undefined)?.id).toBe(idOf(direct.folder));
    },
  },
  {
    tool: "get_assessment",
    argument: "assessment_id",
    member: "assessment",
    path: LISTS.audit,
    keys: ["hidden", "shown", "part", "other", "supplierAudit"],
    async same(told, direct, stage) {
      expect(told.name).toBe(direct.name);
      expect(told.progress).toBe(direct.progress);
      expect([told.min_score, told.max_score]).toEqual([direct.min_score, direct.max_score]);
      expect((told.framework as Row | undefined)?.id).toBe(idOf(direct.framework));
      expect(told.scores_visible).toBe(direct.scoring_enabled);
      // By reference, as requirements name them: the platform has names here.
      const { implementation_groups_definition: groups } = direct.framework as Row;
      const references = (direct.selected_implementation_groups as string[]).map(
        (name) => (groups as readonly Row[] | null | undefined)?.find((group) => group.name === name)?.ref_id ?? name,
      );
      expect((told.groups as string[] | undefined) ?? []).toEqual(references);
      const framework = idOf(direct.framework);
      const own =
        framework && (await stage.platform.read(stage.world.emails.administrator!, LISTS.framework, framework));
      if (own) expect((told.framework as Row).name).toBe(own.name);
      const isOfSupplier = idOf(direct.folder) === stage.world.ids.enclave;
      expect(told.third_party ?? false).toBe(isOfSupplier);
    },
  },
];

/** More tools that read one object. */
export const moreObjectTruths: readonly Truth<Stage>[] = MORE.map(truthOfGetter);
