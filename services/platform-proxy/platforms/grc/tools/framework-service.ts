import { ControlCategory, CsfFunction } from "#proto/grc/v1/control_service_pb.js";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import type { Query } from "../../../lib/http.js";
import { type Place, pagingOf } from "../../../lib/pages.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import type { CisoMe } from "../adapter.js";
import { type Dated, pageByTime } from "../by-time.js";
import { FRAMEWORKS, frameworkOf, type UpstreamFramework } from "../framework.js";
import { pageOf, readAllOfTenant, readPage } from "../lists.js";
import { outlineOf, rowOf, under } from "../outline.js";
import { holds, searchOf } from "../search-words.js";
import { inTenant, makeSure, readNamed, readShared } from "../tenancy.js";
import { type Related, referencesOf } from "../upstream.js";

interface UpstreamRequirement {
  readonly id: string;
  readonly urn: string | null;
  readonly ref_id: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly annotation: string | null;
  readonly typical_evidence: string | null;
  readonly assessable: boolean;
  /** Its id alone. */
  readonly framework: string;
  readonly implementation_groups: readonly string[] | null;
  readonly threats: readonly Related[];
  readonly reference_controls: readonly Related[];
}

interface UpstreamReferenceControl extends Dated {
  readonly ref_id: string | null;
  readonly name: string | null;
  readonly provider: string | null;
  readonly category: string | null;
  readonly csf_function: string | null;
}

const REQUIREMENTS = "/api/requirement-nodes/";
const REFERENCE_CONTROLS = "/api/reference-controls/";
const REQUIREMENTS_A_PAGE = 500;
const TREE_PAGE = 30;
/** Characters of a description in a row, beside what else the row has. */
const FRAMEWORK_TEXT = 35;

/** How the tools of this service are answered. */
export const bindings = [
  unary(FrameworkService.method.listFrameworks, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      // They live above all tenants, so that no filter by domain finds them.
      const query = { ordering: "name,id", provider: r.provider, search: searchOf(r.query) };
      const listed = await readPage<UpstreamFramework>(platform, FRAMEWORKS, query, page);
      if (listed.totalSize === 0) await makeSure(platform, tenant);
      return {
        frameworks: listed.rows.map((framework) => ({
          ...frameworkOf(framework),
          description: shorten(framework.description, FRAMEWORK_TEXT),
          levels: [],
          groups: [],
        })),
        ...pagingOf(page, listed),
      };
    }),
  ),

  unary(FrameworkService.method.getFramework, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const framework = await readShared<UpstreamFramework>(
        platform,
        FRAMEWORKS,
        r.frameworkId,
        "framework_id",
        tenant,
      );
      return { framework: frameworkOf(framework) };
    }),
  ),

  unary(FrameworkService.method.getFrameworkTree, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      // The outline is handed out only of a framework that the caller may read.
      const argument = "framework_id";
      const framework = await readShared<UpstreamFramework>(platform, FRAMEWORKS, r.frameworkId, argument, tenant);
      const outline = await outlineOf(framework, platform);
      const requirements = r.underRefId === undefined ? outline : under(outline, r.underRefId);
      const page = pageOf(r, tenant.id, TREE_PAGE);
      return {
        requirements: requirements
          .slice(page.offset, page.offset + page.size)
          .map((requirement) => (r.underRefId === undefined ? rowOf(requirement) : requirement)),
        ...pagingOf(page, { totalSize: requirements.length }),
      };
    }),
  ),

  unary(FrameworkService.method.listMaturityLevels, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const framework = await readShared<UpstreamFramework>(
        platform,
        FRAMEWORKS,
        r.frameworkId,
        "framework_id",
        tenant,
      );
      const { levels, minScore, maxScore } = frameworkOf(framework);
      return { levels: levels.toSorted((a, b) => a.score - b.score), minScore, maxScore };
    }),
  ),

  unary(FrameworkService.method.listRequirements, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const { id } = await readShared<UpstreamFramework>(platform, FRAMEWORKS, r.frameworkId, "framework_id", tenant);
      // A framework that is in use does not change, so that places keep.
      const query = { framework: id, ordering: "order_id,id" };
      const listed =
        r.query === undefined
          ? await readPage<UpstreamRequirement>(platform, REQUIREMENTS, query, page)
          : await readHolding(platform, query, r.query, page);
      return { requirements: listed.rows.map(requirementRowOf), ...pagingOf(page, listed) };
    }),
  ),

  unary(FrameworkService.method.getRequirement, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const argument = "requirement_id";
      const found = await readNamed<UpstreamRequirement>(platform, REQUIREMENTS, r.requirementId, argument, tenant);
      const framework = await readShared<UpstreamFramework>(platform, FRAMEWORKS, found.framework, argument, tenant);
      return { requirement: requirementOf(found, framework) };
    }),
  ),

  unary(FrameworkService.method.listReferenceControls, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      const { rootId } = await platform.me<CisoMe>();
      // Those of libraries live above all tenants; a tenant may have some of its own.
      const query = { category: r.category && wordOf(ControlCategory, r.category), search: searchOf(r.query) };
      const open = { ...tenant, domains: new Map([...tenant.domains, [rootId, tenant.domains.get(tenant.id)!]]) };
      const all = await readAllOfTenant<UpstreamReferenceControl>(platform, REFERENCE_CONTROLS, query, open);
      if (all.length === 0) await makeSure(platform, tenant);
      const listed = pageByTime(all, "oldest", page);
      return { referenceControls: listed.rows.map(referenceControlOf), ...pagingOf(page, listed) };
    }),
  ),
];

/** The page of those that hold every word: the platform itself looks into names alone, which many have none of. */
async function readHolding(platform: Platform, query: Query, text: string, { offset, size }: Place) {
  const holding: UpstreamRequirement[] = [];
  for (let at = 0; ; ) {
    const page = await readPage<UpstreamRequirement>(platform, REQUIREMENTS, query, {
      size: REQUIREMENTS_A_PAGE,
      offset: at,
    });
    for (const row of page.rows) {
      if (holds(text, [row.ref_id, row.name, row.description])) holding.push(row);
    }
    at += page.rows.length;
    if (page.rows.length === 0 || at >= page.totalSize) break;
  }
  return { rows: holding.slice(offset, offset + size), totalSize: holding.length };
}

/** Its name, and its text where it has none. */
function requirementRowOf(upstream: UpstreamRequirement) {
  const { id, ref_id: refId, name, description, assessable } = upstream;
  return { id, ...given({ refId }), name: shorten(name || description || upstream.urn || id), assessable };
}

function requirementOf(upstream: UpstreamRequirement, framework: UpstreamFramework) {
  const { id, ref_id: refId, name, description, annotation, typical_evidence: typicalEvidence } = upstream;
  return {
    id,
    ...given({ refId, name, description, annotation, typicalEvidence }),
    framework: { id: framework.id, name: framework.name },
    assessable: upstream.assessable,
    groups: [...(upstream.implementation_groups ?? [])],
    threats: referencesOf(upstream.threats).seen,
    referenceControls: referencesOf(upstream.reference_controls).seen,
  };
}

function referenceControlOf(upstream: UpstreamReferenceControl) {
  const { id, name, ref_id: refId, provider, category, csf_function } = upstream;
  return {
    id,
    ...given({ refId, provider }),
    name: shorten(name),
    category: enumOf(ControlCategory, category),
    csfFunction: enumOf(CsfFunction, csf_function),
  };
}
