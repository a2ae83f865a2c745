import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { searchPage } from "../search.js";
import { tenantOf } from "../tenant.js";

interface UpstreamAttackPattern {
  readonly attack_pattern_id: string;
  readonly attack_pattern_external_id: string;
  readonly attack_pattern_name: string;
  readonly attack_pattern_description: string | null;
  readonly attack_pattern_platforms: readonly string[] | null;
  readonly attack_pattern_parent: string | null;
}

/** How the tools of this service are answered. */
export const bindings = [
  unary(TechniqueService.method.searchAttackPatterns, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const sorts = [{ property: "attack_pattern_name", direction: "asc" }] as const;
    const search = { route: "/attack_patterns/search", idKey: "attack_pattern_id", query: r.query, sorts };
    const page = await searchPage<UpstreamAttackPattern>(platform, tenant, search, r);
    return {
      attackPatterns: page.rows.map((row) => ({
        id: row.attack_pattern_id,
        externalId: row.attack_pattern_external_id,
        name: row.attack_pattern_name,
        description: shorten(row.attack_pattern_description),
        platforms: [...(row.attack_pattern_platforms ?? [])],
        ...(row.attack_pattern_parent != null && { parent: { id: row.attack_pattern_parent } }),
      })),
      ...page.paging,
    };
  }),
];
