import type { MessageInitShape } from "@bufbuild/protobuf";
import { type FrameworkSchema, FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { notFound } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { misshapen } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { pageOf, readPage } from "../lists.js";
import { inTenant, makeSure, readShared } from "../tenancy.js";
import { levelsOf, type Related, type ScoresDefinition } from "../upstream.js";

interface UpstreamFramework {
  readonly id: string;
  readonly ref_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly provider: string | null;
  readonly folder: Related;
  readonly min_score: number;
  readonly max_score: number;
  readonly scores_definition: ScoresDefinition;
  readonly has_compliance_assessments: boolean;
}

interface Node {
  readonly ref_id: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly assessable: boolean;
  readonly children?: Tree | null;
}

type Tree = Readonly<Record<string, Node>>;

const FRAMEWORKS = "/api/frameworks/";
const TREE_PAGE = 30;
/** Characters of a text in a row, beside what else the row has. */
const [FRAMEWORK_TEXT, REQUIREMENT_TEXT] = [35, 80];

/** How the tools of this service are answered. */
export const bindings = [
  unary(FrameworkService.method.listFrameworks, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      // They live above all tenants, so that no filter by domain finds them.
      const query = { ordering: "name,id", provider: r.provider, search: r.query };
      const listed = await readPage<UpstreamFramework>(platform, FRAMEWORKS, query, page);
      if (listed.totalSize === 0) await makeSure(platform, tenant);
      return {
        frameworks: listed.rows.map((framework) => ({
          ...frameworkOf(framework),
          description: shorten(framework.description, FRAMEWORK_TEXT),
          levels: [],
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
      const { id } = await readShared<UpstreamFramework>(platform, FRAMEWORKS, r.frameworkId, "framework_id", tenant);
      const tree = await platform.rest<Tree>({ verb: "GET", path: `${FRAMEWORKS}${id}/tree/` });
      if (typeof tree !== "object" || tree === null)
        throw misshapen(platform.server, "something other than an outline");
      const outline = [...walk(tree)];
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
];

function frameworkOf(framework: UpstreamFramework) {
  const { id, name, ref_id, description, provider, min_score, max_score, scores_definition } = framework;
  return {
    id,
    name,
    ...given({ refId: ref_id, description, provider }),
    minScore: min_score,
    maxScore: max_score,
    levels: levelsOf(scores_definition).map((level) => ({
      score: level.score,
      name: level.name,
      ...given({ description: level.description }),
    })),
    inUse: framework.has_compliance_assessments,
  } satisfies MessageInitShape<typeof FrameworkSchema>;
}

interface Outlined {
  readonly id: string;
  readonly refId?: string;
  readonly name?: string;
  readonly description?: string;
  readonly parent?: { readonly id: string };
  readonly depth: number;
  readonly assessable: boolean;
}

/** A requirement as a row of the whole outline: by its name, and by its text where it has none. */
function rowOf({ name, description, ...told }: Outlined): Outlined {
  return {
    ...told,
    ...(name
      ? { name: shorten(name, REQUIREMENT_TEXT) }
      : given({ description: shorten(description, REQUIREMENT_TEXT) })),
  };
}

function* walk(tree: Tree, depth = 0, parent?: Outlined["parent"]): Generator<Outlined> {
  for (const [id, node] of Object.entries(tree)) {
    const { ref_id: refId, name, description, assessable } = node;
    const says = description === name ? undefined : description;
    yield { id, ...given({ refId, name, description: says, parent }), depth, assessable };
    yield* walk(node.children ?? {}, depth + 1, { id });
  }
}

function under(outline: readonly Outlined[], refId: string): Outlined[] {
  const start = outline.findIndex((one) => one.refId?.toLowerCase() === refId.toLowerCase());
  const top = outline[start];
  if (top === undefined) throw notFound(`under_ref_id: the framework has no requirement ${refId}`);
  const length = outline.slice(start + 1).findIndex(({ depth }) => depth <= top.depth);
  return outline.slice(start, length < 0 ? undefined : start + 1 + length);
}
