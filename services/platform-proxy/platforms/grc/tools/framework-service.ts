import { ControlCategory, CsfFunction } from "#proto/grc/v1/control_service_pb.js";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { type Place, pagingOf } from "../../../lib/pages.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import type { CisoMe } from "../adapter.js";
import { type Dated, pageByTime } from "../by-time.js";
import { FRAMEWORKS, frameworkOf, type UpstreamFramework } from "../framework.js";
import { type Part, pageOf, readAllOfTenant, readPage } from "../lists.js";
import { type Outlined, outlineOf, rowOf, under } from "../outline.js";
import { holds, searchOf } from "../search-words.js";
import { inTenant, makeSure, readNamed, readShared } from "../tenancy.js";
import { type Related, referencesOf } from "../upstream.js";

interface UpstreamRequirement {
  readonly id: string;
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
      const argument = "framework_id";
      const framework = await readShared<UpstreamFramework>(platform, FRAMEWORKS, r.frameworkId, argument, tenant);
      const listed =
        r.query === undefined
          ? await readRequirements(platform, framework, page)
          : await readHolding(platform, framework, r.query, page);
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

/** A page of the list; a framework that is in use does not change, so that places keep. */
async function readRequirements(platform: Platform, { id }: UpstreamFramework, part: Part) {
  const query = { framework: id, ordering: "order_id,id" };
  const { rows, totalSize } = await readPage<UpstreamRequirement>(platform, REQUIREMENTS, query, part);
  return { rows: rows.map(listedOf), totalSize };
}

/**
 * The page of those that hold every word. The platform itself looks into names alone, which many have
 * none of; its list takes four times as long as its outline, which lacks what stands under no other.
 */
async function readHolding(platform: Platform, framework: UpstreamFramework, text: string, { offset, size }: Place) {
  const { totalSize } = await readRequirements(platform, framework, { size: 1, offset: 0 });
  const outline = await outlineOf(framework, platform);
  const all = outline.length === totalSize ? outline : await readEach(platform, framework);
  const holding = all.filter(({ refId, name, description }) => holds(text, [refId, name, description]));
  return { rows: holding.slice(offset, offset + size), totalSize: holding.length };
}

async function readEach(platform: Platform, framework: UpstreamFramework): Promise<Listed[]> {
  const all: Listed[] = [];
  for (;;) {
    const part = { size: REQUIREMENTS_A_PAGE, offset: all.length };
    const { rows, totalSize } = await readRequirements(platform, framework, part);
    all.push(...rows);
    if (rows.length === 0 || all.length >= totalSize) return all;
  }
}

/** What of a requirement is listed. */
type Listed = Pick<Outlined, "id" | "refId" | "name" | "description" | "assessable">;

function listedOf({ id, ref_id: refId, name, description, assessable }: UpstreamRequirement): Listed {
  return { id, ...given({ refId, name, description }), assessable };
}

/** Its name, its text where it has none, or its reference. */
function requirementRowOf({ id, refId, name, description, assessable }: Listed) {
  return { id, ...given({ refId }), name: shorten(name || description || refId || id), assessable };
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
