import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { listPage, nameKey, type Order } from "../list.js";
import { tenantOf } from "../tenant.js";

interface UpstreamAttackPattern {
  readonly attack_pattern_id: string;
  readonly attack_pattern_external_id: string;
  readonly attack_pattern_name: string;
  readonly attack_pattern_description: string | null;
  readonly attack_pattern_platforms: readonly string[] | null;
  readonly attack_pattern_parent: string | null;
}

/** The rows of a page with whole descriptions, some of which have thousands of characters. */
const WITH_DESCRIPTIONS = 10;

const BY_NAME: Order<UpstreamAttackPattern> = {
  sorts: [
    { property: "attack_pattern_name", direction: "asc" },
    { property: "attack_pattern_external_id", direction: "asc" },
  ],
  keyOf: (row) => nameKey(row.attack_pattern_name),
  isOurs: true,
};

/** How the tools of this service are answered. */
export const bindings = [
  unary(TechniqueService.method.searchAttackPatterns, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamAttackPattern>(
      platform,
      tenant,
      {
        route: "/attack_patterns/search",
        idKey: "attack_pattern_id",
        query: r.query,
        textsOf: (row) => [row.attack_pattern_name, row.attack_pattern_external_id, row.attack_pattern_description],
        order: BY_NAME,
        piece: 500,
      },
      { pageToken: r.pageToken, pageSize: r.pageSize ?? (r.withDescriptions ? WITH_DESCRIPTIONS : undefined) },
    );
    return {
      attackPatterns: page.rows.map((row) => ({
        id: row.attack_pattern_id,
        externalId: row.attack_pattern_external_id,
        name: row.attack_pattern_name,
        description: r.withDescriptions
          ? (row.attack_pattern_description ?? "")
          : shorten(row.attack_pattern_description),
        platforms: [...(row.attack_pattern_platforms ?? [])],
        ...(row.attack_pattern_parent != null && { parent: { id: row.attack_pattern_parent } }),
      })),
      ...page.paging,
    };
  }),
];
