import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary as steps } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { filtersOf, someOf } from "../filters.js";
import { type RefNode, refOf, timeOf } from "../knowledge.js";
import { type Connection, nodesOf, PAGE, placeOf } from "../paging.js";
import { all, checkRelationTypes, checkTypes, OBJECT, objectOf, type TargetNode } from "../resolve.js";
import { searchTextOf } from "../text.js";

const { countEntities, getTopRelatedEntities, getEntityHistory } = InsightService.method;

export const COUNT = `query Count($types: [String], $filters: FilterGroup, $search: String) { stixCoreObjectsNumber(types: $types, filters: $filters, search: $search) { count } }`;
const RELATED = 'field: "internal_id", operation: count, relationship_type: $relations, limit: $limit';
const ENTITY = "label value entity { ... on StixCoreObject { id entity_type representative { main } } }";
export const TOP_RELATED = `query TopRelated($id: [String], $types: [String], $relations: [String], $limit: Int) { to: stixCoreRelationshipsDistribution(fromOrToId: $id, isTo: true, toTypes: $types, ${RELATED}) { ${ENTITY} } from: stixCoreRelationshipsDistribution(fromOrToId: $id, isTo: false, fromTypes: $types, ${RELATED}) { ${ENTITY} } }`;
export const HISTORY = `query History($filters: FilterGroup, $first: Int, $after: ID) { logs(first: $first, after: $after, orderBy: timestamp, orderMode: desc, filters: $filters) { edges { node { event_scope timestamp user { name } context_data { message commit changes { field } } } } ${PAGE} } }`;

interface Bucket {
  readonly value: number | null;
  /** Null, or without an id, where the caller may not see it. */
  readonly entity: Partial<RefNode> | null;
}

interface LogNode {
  readonly event_scope: string | null;
  readonly timestamp: string;
  readonly user: { readonly name: string } | null;
  readonly context_data: {
    readonly message: string | null;
    readonly commit: string | null;
    readonly changes: readonly { readonly field: string }[] | null;
  } | null;
}

export const bindings: readonly Binding[] = [
  steps(countEntities, async ({ types, query, filter }, platform) => {
    await checkTypes(platform, types, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
    const variables = { types: someOf(types), search: searchTextOf(query), filters: await filtersOf(platform, filter) };
    // `total` would leave the end of a period out.
    const { stixCoreObjectsNumber } = await platform.graphql<{ stixCoreObjectsNumber: { count: number } }>(
      COUNT,
      variables,
    );
    return { count: stixCoreObjectsNumber.count };
  }),
  steps(getTopRelatedEntities, async ({ id, types, relationshipTypes, limit = 10 }, platform) => {
    await checkTypes(platform, types, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
    await checkRelationTypes(platform, relationshipTypes, "relationship_types");
    const object = await objectOf(platform, id);
    const { to, from } = await platform.graphql<Record<"to" | "from", readonly Bucket[] | null>>(TOP_RELATED, {
      id: [object.id],
      types: someOf(types),
      relations: someOf(relationshipTypes),
      limit: limit * 2,
    });
    return { object: refOf(object), related: ranked([...(to ?? []), ...(from ?? [])], limit) };
  }),
  steps(getEntityHistory, async (request, platform) => {
    const id = await historyIdOf(platform, request.id);
    const place = placeOf(request, ["history", id]);
    const filters = all(
      { key: ["context_data.id"], values: [id] },
      { key: ["event_type"], values: ["mutation", "create", "update", "delete", "merge"] },
    );
    const { logs } = await platform.graphql<{ logs: Connection<LogNode> }>(HISTORY, {
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
        fields: (context_data?.changes ?? []).map(({ field }) => field),
      })),
      nextPageToken: place.next(logs),
      totalSize: logs.pageInfo.globalCount,
    };
  }),
];

/** Adds up both directions; what the caller may not see is left out. */
function ranked(buckets: readonly Bucket[], limit: number) {
  const counts = new Map<string, { readonly object: RefNode; count: number }>();
  for (const { value, entity } of buckets) {
    if (entity?.id === undefined) continue;
    const found = counts.get(entity.id) ?? { object: entity as RefNode, count: 0 };
    found.count += value ?? 0;
    counts.set(entity.id, found);
  }
  const sorted = [...counts.values()].sort((a, b) => b.count - a.count);
  return sorted.slice(0, limit).map(({ object, count }) => ({ object: refOf(object), count }));
}

const INTERNAL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The internal id; a deleted object has a history still, and only that id leads to it. */
async function historyIdOf(platform: Platform, id: string): Promise<string> {
  const { stixCoreObject } = await platform.graphql<{ stixCoreObject: TargetNode | null }>(OBJECT, { id });
  if (stixCoreObject !== null) return stixCoreObject.id;
  if (INTERNAL_ID.test(id)) return id;
  throw notFound(`id: no object with the id ${id} exists or is visible to you; of a deleted one give the internal id`);
}
