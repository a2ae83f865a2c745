import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type Binding, unary as steps } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { filtersOf, orderOf, someOf } from "../filters.js";
import { CORE, type CoreNode, type RefNode, refOf, summaryOf } from "../knowledge.js";
import {
  INDICATOR,
  type IndicatorNode,
  indicatorOf,
  OBSERVABLE,
  type ObservableNode,
  observableOf,
} from "../observables.js";
import { type Connection, nodesOf, PAGE, placeOf } from "../paging.js";
import { any, checkTypes, type Filter } from "../resolve.js";
import { hashAlgorithmOf, refang, searchTextOf } from "../text.js";

const { searchKnowledge, searchEntities, searchObservables, searchIndicators, lookupIoc, findEntityByName } =
  SearchService.method;

export const SEARCH_KNOWLEDGE = `query SearchKnowledge($search: String, $types: [String], $first: Int, $after: ID, $filters: FilterGroup, $orderBy: StixCoreObjectsOrdering, $orderMode: OrderingMode) { globalSearch(search: $search, types: $types, first: $first, after: $after, filters: $filters, orderBy: $orderBy, orderMode: $orderMode) { edges { node { ...Core } } ${PAGE} } } ${CORE}`;
export const SEARCH_ENTITIES = `query SearchEntities($search: String, $types: [String], $first: Int, $after: ID, $filters: FilterGroup, $orderBy: StixDomainObjectsOrdering, $orderMode: OrderingMode) { stixDomainObjects(search: $search, types: $types, first: $first, after: $after, filters: $filters, orderBy: $orderBy, orderMode: $orderMode) { edges { node { ...Core } } ${PAGE} } } ${CORE}`;
export const SEARCH_OBSERVABLES = `query SearchObservables($search: String, $types: [String], $first: Int, $after: ID, $filters: FilterGroup, $orderBy: StixCyberObservablesOrdering, $orderMode: OrderingMode) { stixCyberObservables(search: $search, types: $types, first: $first, after: $after, filters: $filters, orderBy: $orderBy, orderMode: $orderMode) { edges { node { ...Obs } } ${PAGE} } } ${OBSERVABLE}`;
export const SEARCH_INDICATORS = `query SearchIndicators($search: String, $first: Int, $after: ID, $filters: FilterGroup, $orderBy: IndicatorsOrdering, $orderMode: OrderingMode) { indicators(search: $search, first: $first, after: $after, filters: $filters, orderBy: $orderBy, orderMode: $orderMode) { edges { node { ...Ind } } ${PAGE} } } ${INDICATOR}`;
export const LOOKUP = `query Lookup($filters: FilterGroup) { stixCyberObservables(first: 10, filters: $filters) { edges { node { ...Obs indicators(first: 20) { edges { node { ...Ind } } } containers(first: 20) { edges { node { id entity_type representative { main } } } } } } } } ${OBSERVABLE} ${INDICATOR}`;

/** Asks for one page of a list whose variables are all resolved. */
async function pageOf<Node>(
  platform: Platform,
  document: string,
  request: { readonly pageSize?: number | undefined; readonly pageToken: string },
  variables: Record<string, unknown>,
): Promise<{ readonly nodes: Node[]; readonly nextPageToken: string; readonly totalSize: number }> {
  const place = placeOf(request, [document, variables]);
  const data = await platform.graphql<Record<string, Connection<Node>>>(document, {
    ...variables,
    first: place.first,
    after: place.after,
  });
  const page = Object.values(data)[0] as Connection<Node>;
  return { nodes: nodesOf(page), nextPageToken: place.next(page), totalSize: page.pageInfo.globalCount };
}

const scored = (score: number | undefined): Filter[] =>
  score === undefined ? [] : [{ key: ["x_opencti_score"], values: [String(score)], operator: "gte" }];

/** Where a name may stand; "alias" is each type's own list of other names, and a technique has its ATT&CK id. */
const NAMES = ["name", "alias", "x_mitre_id"];

export const bindings: readonly Binding[] = [
  steps(searchKnowledge, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
    const { nodes, ...rest } = await pageOf<CoreNode>(platform, SEARCH_KNOWLEDGE, request, {
      search: searchTextOf(request.query),
      types: someOf(request.types),
      filters: await filtersOf(platform, request.filter),
      ...orderOf(request.order),
    });
    return { objects: nodes.map((node) => summaryOf(node)), ...rest };
  }),
  steps(searchEntities, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Domain-Object"]);
    const { nodes, ...rest } = await pageOf<CoreNode>(platform, SEARCH_ENTITIES, request, {
      search: searchTextOf(request.query),
      types: someOf(request.types),
      filters: await filtersOf(platform, request.filter),
      ...orderOf(request.order),
    });
    return { entities: nodes.map((node) => summaryOf(node)), ...rest };
  }),
  steps(searchObservables, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Cyber-Observable"]);
    const { nodes, ...rest } = await pageOf<ObservableNode>(platform, SEARCH_OBSERVABLES, request, {
      search: searchTextOf(request.query),
      types: someOf(request.types),
      filters: await filtersOf(platform, request.filter, ...scored(request.minScore)),
      ...orderOf(request.order),
    });
    return { observables: nodes.map(observableOf), ...rest };
  }),
  steps(searchIndicators, async (request, platform) => {
    const own = scored(request.minScore);
    if (request.patternType !== undefined) own.push({ key: ["pattern_type"], values: [request.patternType] });
    if (request.validOnly) {
      own.push({ key: ["revoked"], values: ["false"] }, { key: ["valid_until"], values: ["now"], operator: "gt" });
    }
    const { nodes, ...rest } = await pageOf<IndicatorNode>(platform, SEARCH_INDICATORS, request, {
      search: searchTextOf(request.query),
      filters: await filtersOf(platform, request.filter, ...own),
      ...orderOf(request.order),
    });
    return { indicators: nodes.map(indicatorOf), ...rest };
  }),
  steps(lookupIoc, async (request, platform) => {
    const value = refang(request.value);
    const algorithm = hashAlgorithmOf(value);
    const filters = any(
      { key: ["value"], values: [value] },
      ...(algorithm === undefined ? [] : [{ key: [`hashes.${algorithm}`], values: [value] }]),
    );
    type Match = ObservableNode & {
      readonly indicators: Connection<IndicatorNode> | null;
      readonly containers: Connection<RefNode> | null;
    };
    const { stixCyberObservables } = await platform.graphql<{ stixCyberObservables: Connection<Match> }>(LOOKUP, {
      filters,
    });
    const matches = nodesOf(stixCyberObservables).map((node) => ({
      observable: observableOf(node),
      indicators: nodesOf(node.indicators).map(indicatorOf),
      containers: nodesOf(node.containers).map(refOf),
    }));
    return { value, known: matches.length > 0, matches };
  }),
  steps(findEntityByName, async ({ name, types }, platform) => {
    await checkTypes(platform, types, ["Stix-Domain-Object"]);
    const search = async (variables: Record<string, unknown>) => {
      const { stixDomainObjects } = await platform.graphql<{ stixDomainObjects: Connection<CoreNode> }>(
        SEARCH_ENTITIES,
        { types: someOf(types), first: 10, ...variables },
      );
      return nodesOf(stixDomainObjects).map((node) => summaryOf(node));
    };
    const named = await search({ filters: any(...NAMES.map((key) => ({ key: [key], values: [name.trim()] }))) });
    if (named.length > 0) return { exact: true, entities: named };
    return { exact: false, entities: await search({ search: searchTextOf(name) }) };
  }),
];
