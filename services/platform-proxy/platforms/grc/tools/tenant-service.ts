import { type GrcType, GrcTypeSchema, TenantService } from "#proto/grc/v1/tenant_service_pb.js";
import { holds } from "../../../../shared/query-text.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { objectOf, rowsOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { inTurns } from "../../../lib/in-turns.js";
import { pagingOf } from "../../../lib/pages.js";
import type { Platform } from "../../../platform.js";
import type { CisoMe } from "../adapter.js";
import { pageOf } from "../lists.js";
import { inTenant, makeSure, placeAmong, type Tenant, tenantAmong, tenantsOf } from "../tenancy.js";
import type { Related } from "../upstream.js";

interface Hit {
  readonly type: string;
  readonly id: string;
  readonly name: string | null;
  readonly ref_id: string;
  readonly description: string;
  /** The name of its domain, not the id. */
  readonly folder: string;
  readonly framework_id: string | null;
  readonly score: number;
}

/** What the platform's search calls each type, which is also the path of its list. */
const SEARCHED = new Map<GrcType, string>(
  Object.entries({
    framework: "frameworks",
    requirement: "requirement-nodes",
    reference_control: "reference-controls",
    control: "applied-controls",
    evidence: "evidences",
    asset: "assets",
    assessment: "compliance-assessments",
    risk_assessment: "risk-assessments",
    risk_scenario: "risk-scenarios",
    threat: "threats",
  }).map(([word, path]) => [GrcTypeSchema.values.find((v) => v.localName.toLowerCase() === word)!.number, path]),
);
const TYPES = new Map([...SEARCHED].map(([type, path]) => [path, type]));

/** How many hits the platform hands out at most; it has no paging. */
const MAX_HITS = 50;

/** How the tools of this service are answered. */
export const bindings = [
  unary(TenantService.method.listTenants, async (r, platform) => {
    // Where one starts: what was made or given a moment ago is there.
    const open = await tenantsOf(platform, true);
    const meant = r.tenantId === undefined ? open : [tenantAmong(open, r.tenantId)];
    const all = meant.filter(({ name }) => holds(name, r.query ?? ""));
    const page = pageOf(r, r.tenantId);
    // After the last of the page before, whatever has come and gone since.
    const left = page.cursor === undefined ? all : all.filter((one) => placeAmong(one) > page.cursor!);
    const tenants = left.slice(0, page.size);
    return {
      tenants: tenants.map(tenantOf),
      ...pagingOf(page, {
        totalSize: page.offset + left.length,
        cursor: tenants.length < left.length ? placeAmong(tenants.at(-1)!) : undefined,
      }),
    };
  }),

  unary(TenantService.method.getTenant, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => ({ tenant: tenantOf(tenant) })),
  ),

  unary(TenantService.method.searchAll, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const types = r.types.length === 0 ? [...SEARCHED.values()] : r.types.map((type) => SEARCHED.get(type)!);
      const answer = await platform.rest<{ results?: unknown; total_candidates?: number } | undefined>({
        verb: "GET",
        path: "/api/search/",
        query: { q: r.query, type: types.join(",") },
      });
      const results = rowsOf<Hit>(platform.server, answer?.results, "id");
      if (results.length === 0) await makeSure(platform, tenant);
      const found = results.filter(({ type }) => TYPES.has(type));
      const folders = await foldersOf(found, platform, tenant);
      return {
        hits: found.filter(({ id }) => folders.has(id)).map((hit) => hitOf(hit, folders.get(hit.id)!)),
        truncated: (answer?.total_candidates ?? 0) > results.length || results.length >= MAX_HITS,
      };
    }),
  ),
];

function tenantOf({ id, name, description, domains }: Tenant) {
  return {
    id,
    name,
    ...given({ description }),
    domains: [...domains.values()]
      .filter((domain) => domain.id !== id)
      .map((domain) => ({ id: domain.id, name: domain.name })),
  };
}

function hitOf(hit: Hit, folderId: string) {
  return {
    type: TYPES.get(hit.type)!,
    id: hit.id,
    name: hit.name ?? "",
    ...given({ refId: hit.ref_id, description: shorten(hit.description) }),
    domain: { id: folderId, ...given({ name: hit.folder }) },
    ...(hit.framework_id && { framework: { id: hit.framework_id } }),
    score: hit.score,
  };
}

/**
 * The folders of the hits that are the tenant's or shared, by the hits' ids. A
 * hit names its domain only by a name that another tenant may use too, so each
 * is looked up.
 */
async function foldersOf(hits: readonly Hit[], platform: Platform, tenant: Tenant): Promise<Map<string, string>> {
  const { rootId } = await platform.me<CisoMe>();
  const folders = new Map<string, string>();
  await inTurns([...new Set(hits.map(({ type }) => type))], async (type) => {
    const wanted = hits.filter((hit) => hit.type === type).map(({ id }) => id);
    for (const { id, folder } of await readByIds(platform, `/api/${type}/`, wanted)) {
      const folderId = typeof folder === "string" ? folder : folder?.id;
      if (folderId !== undefined && (folderId === rootId || tenant.domains.has(folderId))) folders.set(id, folderId);
    }
  });
  return folders;
}

interface Found {
  readonly id: string;
  /** Requirements have the id alone. */
  readonly folder: Related | string;
}

/** Reads objects in one list, and one by one where the list does not know the filter, which it then ignores. */
async function readByIds(platform: Platform, path: string, ids: readonly string[]): Promise<readonly Found[]> {
  const query = { id: ids.join(","), limit: MAX_HITS, ordering: "id" };
  const answer = await platform.rest<{ results?: unknown } | undefined>({ verb: "GET", path, query });
  const rows = rowsOf<Found>(platform.server, answer?.results, "id");
  if (rows.every(({ id }) => ids.includes(id))) return rows;
  return inTurns(ids, async (id) =>
    objectOf<Found>(platform.server, await platform.rest({ verb: "GET", path: `${path}${id}/` }), "id"),
  );
}
