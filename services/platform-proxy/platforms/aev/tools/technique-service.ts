import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { ATTACK_PATTERN } from "../kinds.js";
import { havingOne, listPage, nameKey, numberKey, type Order } from "../list.js";
import { DEFAULT_TENANT } from "../me.js";
import { memberOf } from "../member.js";
import { allPhases, PHASE_SORTS, PHASES, type UpstreamPhase } from "../phases.js";
import { tenantOf } from "../tenant.js";
import type { UpstreamAttackPattern } from "../upstream-content.js";

interface UpstreamMitigation {
  readonly mitigation_id: string;
  readonly mitigation_external_id: string;
  readonly mitigation_name: string;
  readonly mitigation_description: string | null;
  readonly mitigation_attack_patterns: readonly string[] | null;
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

const MITIGATIONS_BY_NAME: Order<UpstreamMitigation> = {
  sorts: [
    { property: "mitigation_name", direction: "asc" },
    { property: "mitigation_external_id", direction: "asc" },
  ],
  keyOf: (row) => nameKey(row.mitigation_name),
  isOurs: true,
};

const PHASES_IN_ORDER: Order<UpstreamPhase> = {
  sorts: PHASE_SORTS,
  keyOf: (row) => `${nameKey(row.phase_kill_chain_name)} ${numberKey(row.phase_order)}`,
  isOurs: true,
};

const { listAttackPatterns, getAttackPattern, listMitigations, listKillChainPhases } = TechniqueService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listAttackPatterns, async (r, platform) => {
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
      attackPatterns: page.rows.map((row) => {
        const pattern = toAttackPattern(row);
        return r.withDescriptions ? pattern : { ...pattern, description: shorten(pattern.description) };
      }),
      ...page.paging,
    };
  }),

  unary(getAttackPattern, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await memberOf(platform, tenant, ATTACK_PATTERN, r.attackPatternId);
    const phases = new Map<string, string>();
    for await (const phase of allPhases(platform, tenant)) phases.set(phase.phase_id, phase.phase_name);
    const killChainPhases = (row.attack_pattern_kill_chain_phases ?? []).map((id) => ({ id, name: phases.get(id) }));
    return { attackPattern: { ...toAttackPattern(row), killChainPhases } };
  }),

  unary(listMitigations, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    if (tenant.id !== DEFAULT_TENANT) {
      throw failedPrecondition(
        `OpenAEV returns mitigations only for its default tenant (${DEFAULT_TENANT}), not for ${tenant.name}`,
      );
    }
    if (r.attackPatternId !== undefined) await memberOf(platform, tenant, ATTACK_PATTERN, r.attackPatternId);
    const page = await listPage<UpstreamMitigation>(
      platform,
      // The platform gives mitigations without a tenant in the path alone.
      { ...tenant, path: (route) => `/api${route}` },
      {
        route: "/mitigations/search",
        idKey: "mitigation_id",
        query: r.query,
        textsOf: (row) => [row.mitigation_name, row.mitigation_external_id, row.mitigation_description],
        having: havingOne(
          (row) => row.mitigation_attack_patterns,
          r.attackPatternId === undefined ? [] : [r.attackPatternId],
        ),
        order: MITIGATIONS_BY_NAME,
        piece: 200,
      },
      { pageToken: r.pageToken, pageSize: r.pageSize ?? (r.withDescriptions ? WITH_DESCRIPTIONS : undefined) },
    );
    const mitigations = page.rows.map((row) => ({
      id: row.mitigation_id,
      externalId: row.mitigation_external_id,
      name: row.mitigation_name,
      description: r.withDescriptions ? (row.mitigation_description ?? "") : shorten(row.mitigation_description),
      attackPatterns: row.mitigation_attack_patterns?.length ?? 0,
    }));
    return { mitigations, ...page.paging };
  }),

  unary(listKillChainPhases, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const textsOf = (row: UpstreamPhase) => [row.phase_name, row.phase_kill_chain_name];
    const list = { ...PHASES, query: r.query, textsOf, order: PHASES_IN_ORDER, piece: 200 };
    const page = await listPage<UpstreamPhase>(platform, tenant, list, r);
    const killChainPhases = page.rows.map((row) => ({
      id: row.phase_id,
      externalId: row.phase_external_id ?? "",
      name: row.phase_name,
      killChain: row.phase_kill_chain_name,
      order: row.phase_order,
    }));
    return { killChainPhases, ...page.paging };
  }),
];

function toAttackPattern(row: UpstreamAttackPattern) {
  return {
    id: row.attack_pattern_id,
    externalId: row.attack_pattern_external_id,
    name: row.attack_pattern_name,
    description: row.attack_pattern_description ?? "",
    platforms: [...(row.attack_pattern_platforms ?? [])],
    ...(row.attack_pattern_parent != null && { parent: { id: row.attack_pattern_parent } }),
  };
}
