import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { type Binding, unary } from "../../../binding.js";
import { filtersOf, someOf } from "../filters.js";
import { fragment, type NodeOf, operation } from "../graphql.js";
import { historyBindings } from "../history.js";
import { refOf } from "../knowledge.js";
import { recentBindings } from "../recent.js";
import { objectOf, visibleOf } from "../resolve.js";
import { selectionOf } from "../search.js";
import { checkRelationTypes, checkTypes } from "../types.js";

const { countEntities, getTopRelatedEntities } = InsightService.method;

/** How many objects match. */
export const COUNT = operation(`
  query Count($types: [String], $filters: FilterGroup, $search: String) {
    stixCoreObjectsNumber(types: $types, filters: $filters, search: $search) {
      count
    }
  }
`);

/** How often an object is related to one. Of a hidden one the platform tells the id and type all the same. */
const BUCKET = fragment(`
  fragment Bucket on Distribution {
    label
    value
  }
`);

/** The objects most often related to one, in each direction. */
export const TOP_RELATED = operation(
  `
  query TopRelated($id: [String], $types: [String], $relations: [String], $limit: Int) {
    to: stixCoreRelationshipsDistribution(
      fromOrToId: $id
      isTo: true
      toTypes: $types
      field: "internal_id"
      operation: count
      relationship_type: $relations
      limit: $limit
    ) {
      ...Bucket
    }
    from: stixCoreRelationshipsDistribution(
      fromOrToId: $id
      isTo: false
      fromTypes: $types
      field: "internal_id"
      operation: count
      relationship_type: $relations
      limit: $limit
    ) {
      ...Bucket
    }
  }
`,
  [BUCKET],
);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(countEntities, async ({ types, query, filter }, platform) => {
    await checkTypes(platform, types, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
    const variables = { types: someOf(types), ...selectionOf(query, await filtersOf(platform, filter)) };
    // `total` would leave the end of a period out.
    const { stixCoreObjectsNumber } = await platform.graphql(COUNT, variables);
    return { count: stixCoreObjectsNumber?.count ?? 0 };
  }),
  unary(getTopRelatedEntities, async ({ objectId, types, relationshipTypes, limit = 10 }, platform) => {
    await checkTypes(platform, types, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
    await checkRelationTypes(platform, relationshipTypes, "relationship_types");
    const object = await objectOf(platform, objectId);
    const { to, from } = await platform.graphql(TOP_RELATED, {
      id: [object.id],
      types: someOf(types),
      relations: someOf(relationshipTypes),
      limit: MOST_BUCKETS,
    });
    const counts = countsOf([...(to ?? []), ...(from ?? [])]);
    const seen = await visibleOf(platform, [...counts.keys()]);
    const related = seen.map((node) => ({ ...refOf(node), count: counts.get(node.id) ?? 0 }));
    return { object: refOf(object), related: related.sort(mostFirst).slice(0, limit) };
  }),
  ...historyBindings,
  ...recentBindings,
];

/** The most that the platform ranks: hidden objects take places too. */
const MOST_BUCKETS = 100;

/** How often each object is related, both directions added up. */
function countsOf(buckets: readonly (NodeOf<typeof BUCKET> | null)[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const bucket of buckets) {
    if (bucket !== null) counts.set(bucket.label, (counts.get(bucket.label) ?? 0) + (bucket.value ?? 0));
  }
  return counts;
}

interface Counted {
  readonly id: string;
  readonly name: string;
  readonly count: number;
}

/** The most related first; of equally related ones by name, so that the order is one. */
const mostFirst = (a: Counted, b: Counted): number =>
  b.count - a.count || compare(a.name, b.name) || compare(a.id, b.id);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
