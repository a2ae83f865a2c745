import {
  DateField,
  RelationshipDateField,
  RelationshipField,
  StatisticsService,
} from "#proto/cti/v1/statistics_service_pb.js";
import { type Binding, unary } from "../../../binding.js";
import { type Tie, tiesOf } from "../around.js";
import { ENTITY_DISTRIBUTION, fieldOf, mostFirst, tallyOf } from "../distribution.js";
import { filtersOf, someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { refOf } from "../knowledge.js";
import { nodesOf } from "../paging.js";
import { countedIn, periodsOf, told } from "../periods.js";
import { objectOf } from "../resolve.js";
import { selectionOf } from "../search.js";
import { checkRelationTypes, checkTypes } from "../types.js";

const {
  getEntityStatistics,
  getEntityDistribution,
  getEntityTimeseries,
  countRelationships,
  getRelationshipDistribution,
  getRelationshipTimeseries,
} = StatisticsService.method;

/** What holds an object, by type. */
export const HOLDING = operation(`
  query Holding($id: String!) {
    stixCoreObject(id: $id) {
      containers(first: 2000) {
        edges {
          node {
            entity_type
          }
        }
      }
    }
  }
`);

/** How many objects there are in each period. */
export const ENTITY_TIMESERIES = operation(`
  query EntityTimeseries(
    $field: String!
    $startDate: DateTime!
    $endDate: DateTime
    $interval: String!
    $types: [String]
    $filters: FilterGroup
    $search: String
  ) {
    stixCoreObjectsTimeSeries(
      field: $field
      operation: count
      startDate: $startDate
      endDate: $endDate
      interval: $interval
      types: $types
      filters: $filters
      search: $search
    ) {
      value
    }
  }
`);

/** How many relationships there are, whoever may see their ends. */
export const COUNT_ALL_RELATIONSHIPS = operation(`
  query CountAllRelationships($types: [String]) {
    stixCoreRelationshipsNumber(relationship_type: $types) {
      count
    }
  }
`);

const BASES = ["Stix-Domain-Object", "Stix-Cyber-Observable"];
const DEFAULT_LIMIT = 20;
/** So many values the platform is asked for, among which hidden ones may be. */
const MOST_BUCKETS = 1_000;

const INTERVALS = ["", "day", "week", "month", "quarter", "year"];

const DATES: Readonly<Record<DateField, string>> = {
  [DateField.UNSPECIFIED]: "created_at",
  [DateField.CREATED_AT]: "created_at",
  [DateField.UPDATED_AT]: "updated_at",
  [DateField.PUBLISHED]: "published",
  [DateField.FIRST_SEEN]: "first_seen",
  [DateField.LAST_SEEN]: "last_seen",
  [DateField.VALID_FROM]: "valid_from",
  [DateField.VALID_UNTIL]: "valid_until",
};

const NAMES: Readonly<Record<RelationshipField, (tie: Tie) => readonly string[]>> = {
  [RelationshipField.UNSPECIFIED]: ({ type }) => [type],
  [RelationshipField.RELATIONSHIP_TYPE]: ({ type }) => [type],
  [RelationshipField.OTHER_TYPE]: ({ other }) => [other.entity_type],
  [RelationshipField.AUTHOR]: ({ author }) => [author?.name ?? "unknown"],
  [RelationshipField.MARKING]: ({ markings }) => (markings.length === 0 ? ["unknown"] : markings),
};

const boundOf = (isLowerBound: boolean) => isLowerBound && { isLowerBound };

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(getEntityStatistics, async ({ objectId }, platform) => {
    const object = await objectOf(platform, objectId);
    const { ties, isLowerBound } = await tiesOf(platform, object.id, { relationshipTypes: [], otherTypes: [] });
    const { stixCoreObject } = await platform.graphql(HOLDING, { id: object.id });
    return {
      object: refOf(object),
      relationships: ties.length,
      relatedObjects: new Set(ties.map(({ other }) => other.id)).size,
      byRelationshipType: tallyOf(ties.map(({ type }) => type)),
      byOtherType: tallyOf(ties.map(({ other }) => other.entity_type)),
      byContainerType: tallyOf(nodesOf(stixCoreObject?.containers).map(({ entity_type }) => entity_type)),
      ...boundOf(isLowerBound),
    };
  }),
  unary(getEntityDistribution, async ({ field: name, types, query, filter, limit = DEFAULT_LIMIT }, platform) => {
    await checkTypes(platform, types, BASES);
    const field = await fieldOf(platform, name, types);
    const variables = { types: someOf(types), ...selectionOf(query, await filtersOf(platform, filter)) };
    const { stixCoreObjectsDistribution } = await platform.graphql(ENTITY_DISTRIBUTION, {
      ...variables,
      field: field.key,
      limit: MOST_BUCKETS,
    });
    const rows = (stixCoreObjectsDistribution ?? []).filter((row) => row !== null);
    return { buckets: mostFirst(await field.read(platform, rows)).slice(0, limit) };
  }),
  unary(getEntityTimeseries, async (request, platform) => {
    const { types, query, filter, interval } = request;
    await checkTypes(platform, types, BASES);
    const periods = periodsOf(interval, request.start, request.end);
    const { stixCoreObjectsTimeSeries } = await platform.graphql(ENTITY_TIMESERIES, {
      types: someOf(types),
      ...selectionOf(query, await filtersOf(platform, filter)),
      field: DATES[request.dateField],
      // From the beginning of a period: from the middle of one the platform finds nothing in quarters.
      startDate: periods.starts[0]?.toISOString() ?? "",
      endDate: periods.end.toISOString(),
      interval: INTERVALS[interval] ?? "",
    });
    // The platform writes weeks as if they began on Sunday, and counts from Monday: the places are right.
    return {
      periods: told(
        periods,
        (stixCoreObjectsTimeSeries ?? []).map((one) => one?.value),
      ),
    };
  }),
  unary(countRelationships, async ({ objectId, relationshipTypes, otherTypes }, platform) => {
    await checkRelationTypes(platform, relationshipTypes, "relationship_types");
    if (objectId === undefined) {
      const { stixCoreRelationshipsNumber } = await platform.graphql(COUNT_ALL_RELATIONSHIPS, {
        types: someOf(relationshipTypes),
      });
      return { count: stixCoreRelationshipsNumber?.count ?? 0 };
    }
    await checkTypes(platform, otherTypes, BASES, "other_types");
    const { id } = await objectOf(platform, objectId);
    const { ties, isLowerBound } = await tiesOf(platform, id, { relationshipTypes, otherTypes });
    return { count: ties.length, ...boundOf(isLowerBound) };
  }),
  unary(getRelationshipDistribution, async (request, platform) => {
    const { relationshipTypes, otherTypes, field, limit = DEFAULT_LIMIT } = request;
    await checkRelationTypes(platform, relationshipTypes, "relationship_types");
    await checkTypes(platform, otherTypes, BASES, "other_types");
    const object = await objectOf(platform, request.objectId);
    const { ties, isLowerBound } = await tiesOf(platform, object.id, { relationshipTypes, otherTypes });
    const buckets = tallyOf(ties.flatMap(NAMES[field])).slice(0, limit);
    return { object: refOf(object), buckets, ...boundOf(isLowerBound) };
  }),
  unary(getRelationshipTimeseries, async (request, platform) => {
    const { relationshipTypes, otherTypes, dateField } = request;
    await checkRelationTypes(platform, relationshipTypes, "relationship_types");
    await checkTypes(platform, otherTypes, BASES, "other_types");
    const periods = periodsOf(request.interval, request.start, request.end);
    const object = await objectOf(platform, request.objectId);
    const { ties, isLowerBound } = await tiesOf(platform, object.id, { relationshipTypes, otherTypes });
    const times = ties.map((tie) => (dateField === RelationshipDateField.CREATED_AT ? tie.createdAt : tie.startTime));
    return { object: refOf(object), periods: told(periods, countedIn(periods, times)), ...boundOf(isLowerBound) };
  }),
];
