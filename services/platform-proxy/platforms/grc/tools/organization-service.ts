import type { MessageInitShape } from "@bufbuild/protobuf";
import { type OrganizationSchema, OrganizationService } from "#proto/grc/v1/organization_service_pb.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { type Dated, pageByTime } from "../by-time.js";
import { pageOf, readAllOfTenant } from "../lists.js";
import { holds, searchOf } from "../search-words.js";
import { inTenant, makeSure, readShared } from "../tenancy.js";
import { type Related, referenceOf, referencesOf } from "../upstream.js";

interface UpstreamEntity extends Dated {
  readonly ref_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly mission: string | null;
  readonly country: string | null;
  readonly is_active: boolean;
  readonly parent_entity: Related | null;
  readonly branches: readonly Related[];
  readonly reference_link: string | null;
  readonly default_dependency: number;
  readonly default_penetration: number;
  readonly default_maturity: number;
  readonly default_trust: number;
}

/** What the platform calls organizations. */
const ENTITIES = "/api/entities/";

/** How the tools of this service are answered. */
export const bindings = [
  unary(OrganizationService.method.listOrganizations, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const all = await readAllOfTenant<UpstreamEntity>(platform, ENTITIES, { search: searchOf(r.query) }, tenant);
      if (all.length === 0) await makeSure(platform, tenant);
      // The platform also looks into tax and trade register numbers, as it prints them.
      const meant = all.filter(({ name, description }) => r.query === undefined || holds(r.query, [name, description]));
      const listed = pageByTime(meant, "newest", page);
      return { organizations: listed.rows.map(rowOf), ...pagingOf(page, listed) };
    }),
  ),

  unary(OrganizationService.method.getOrganization, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => ({
      organization: organizationOf(
        await readShared<UpstreamEntity>(platform, ENTITIES, r.organizationId, "organization_id", tenant),
      ),
    })),
  ),
];

function rowOf(upstream: UpstreamEntity) {
  const { id, name, ref_id: refId, country, is_active: active } = upstream;
  const parent = upstream.parent_entity?.id;
  return { id, name, ...given({ refId, country }), active, ...(parent !== undefined && { parent: { id: parent } }) };
}

function organizationOf(upstream: UpstreamEntity) {
  return {
    ...rowOf(upstream),
    ...given({
      description: upstream.description,
      mission: upstream.mission,
      link: upstream.reference_link,
      domain: referenceOf(upstream.folder),
      parent: referenceOf(upstream.parent_entity),
      dependency: upstream.default_dependency,
      penetration: upstream.default_penetration,
      maturity: upstream.default_maturity,
      trust: upstream.default_trust,
    }),
    branches: referencesOf(upstream.branches).seen,
  } satisfies MessageInitShape<typeof OrganizationSchema>;
}
