import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { filtersOf, someOf } from "../filters.js";
import { fragment, type NodeOf, operation } from "../graphql.js";
import { refOf, timeOf } from "../knowledge.js";
import { nodesOf, PAGE, placeOf } from "../paging.js";
import { recentBindings } from "../recent.js";
import { all, OBJECT, objectOf, visibleOf } from "../resolve.js";
import { selectionOf } from "../search.js";
import { checkRelationTypes, checkTypes } from "../types.js";

const { countEntities, getTopRelatedEntities, getEntityHistory } = InsightService.method;

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

/** What happened to an object. */
export const HISTORY = operation(
  `
  query History($filters: FilterGroup, $first: Int, $after: ID) {
    logs(first: $first, after: $after, orderBy: timestamp, orderMode: desc, filters: $filters) {
      edges {
        node {
          event_scope
          timestamp
          user {
            name
          }
          context_data {
            message
            commit
            changes {
              field
            }
          }
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [PAGE],
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
  unary(getEntityHistory, async (request, platform) => {
    const id = await historyIdOf(platform, request.objectId);
    const place = placeOf(request, ["history", id]);
    const filters = all(
      { key: ["context_data.id"], values: [id] },
      { key: ["event_type"], values: ["mutation", "create", "update", "delete", "merge"] },
    );
    const { logs } = await platform.graphql(HISTORY, {
      filters,
      first: place.first,
      after: place.after,
    });
    return {
      entries: nodesOf(logs).map(({ event_scope, timestamp, user, context_data }) => ({
        ...timeOf("at", timestamp),
        user: user?.name ?? "",
        act: event_scope ?? "",
        message: context_data?.message ?? "",
        commitMessage: context_data?.commit ?? "",
        fields: (context_data?.changes ?? []).flatMap((change) => (change === null ? [] : [change.field])),
      })),
      ...place.next(logs),
    };
  }),
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

const INTERNAL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The internal id; a deleted object has a history still, and only that id leads to it. */
async function historyIdOf(platform: Platform, id: string): Promise<string> {
  const { stixCoreObject } = await platform.graphql(OBJECT, { id });
  if (stixCoreObject !== null) return stixCoreObject.id;
  if (INTERNAL_ID.test(id)) return id;
  throw notFound(
    `object_id: no object with the id ${id} exists or is visible to you; of a deleted one give the internal id`,
  );
}
