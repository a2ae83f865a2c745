import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type Binding, unary } from "../../../binding.js";
import type { VariablesOf } from "../../../document.js";
import { filtersOf, orderOf, someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { CORE, REF, refOf, rowOf } from "../knowledge.js";
import { INDICATOR, indicatorRowOf, OBSERVABLE, observableOf } from "../observables.js";
import { nodesOf, PAGE, placeOf } from "../paging.js";
import { any, type Filter } from "../resolve.js";
import { hashAlgorithmOf, refang, searchTextOf } from "../text.js";
import { checkTypes } from "../types.js";

const { searchAll, searchEntities, searchObservables, searchIndicators, lookupIoc, findEntityByName } =
  SearchService.method;

/** Objects of every kind. */
export const SEARCH_ALL = operation(
  `
  query SearchAll(
    $search: String
    $types: [String]
    $first: Int
    $after: ID
    $filters: FilterGroup
    $orderBy: StixCoreObjectsOrdering
    $orderMode: OrderingMode
  ) {
    globalSearch(
      search: $search
      types: $types
      first: $first
      after: $after
      filters: $filters
      orderBy: $orderBy
      orderMode: $orderMode
    ) {
      edges {
        node {
          ...Core
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [CORE, PAGE],
);

/** Domain objects. */
export const SEARCH_ENTITIES = operation(
  `
  query SearchEntities(
    $search: String
    $types: [String]
    $first: Int
    $after: ID
    $filters: FilterGroup
    $orderBy: StixDomainObjectsOrdering
    $orderMode: OrderingMode
  ) {
    stixDomainObjects(
      search: $search
      types: $types
      first: $first
      after: $after
      filters: $filters
      orderBy: $orderBy
      orderMode: $orderMode
    ) {
      edges {
        node {
          ...Core
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [CORE, PAGE],
);

/** Observables. */
export const SEARCH_OBSERVABLES = operation(
  `
  query SearchObservables(
    $search: String
    $types: [String]
    $first: Int
    $after: ID
    $filters: FilterGroup
    $orderBy: StixCyberObservablesOrdering
    $orderMode: OrderingMode
  ) {
    stixCyberObservables(
      search: $search
      types: $types
      first: $first
      after: $after
      filters: $filters
      orderBy: $orderBy
      orderMode: $orderMode
    ) {
      edges {
        node {
          ...Obs
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [OBSERVABLE, PAGE],
);

/** Indicators. */
export const SEARCH_INDICATORS = operation(
  `
  query SearchIndicators(
    $search: String
    $first: Int
    $after: ID
    $filters: FilterGroup
    $orderBy: IndicatorsOrdering
    $orderMode: OrderingMode
  ) {
    indicators(
      search: $search
      first: $first
      after: $after
      filters: $filters
      orderBy: $orderBy
      orderMode: $orderMode
    ) {
      edges {
        node {
          ...Ind
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [INDICATOR, PAGE],
);

/** Observables of a value, with the indicators based on them and what holds them. */
export const LOOKUP = operation(
  `
  query Lookup($filters: FilterGroup) {
    stixCyberObservables(first: 10, filters: $filters) {
      edges {
        node {
          ...Obs
          indicators(first: 20) {
            edges {
              node {
                ...Ind
              }
            }
          }
          containers(first: 20) {
            edges {
              node {
                ...Ref
              }
            }
          }
        }
      }
    }
  }
`,
  [OBSERVABLE, INDICATOR, REF],
);

const scored = (score: number | undefined): Filter[] =>
  score === undefined ? [] : [{ key: ["x_opencti_score"], values: [String(score)], operator: "gte" }];

/** Where a name may stand; "alias" is each type's own list of other names, and a technique has its ATT&CK id. */
const NAMES = ["name", "alias", "x_mitre_id"];

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(searchAll, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
    const variables = {
      search: searchTextOf(request.query),
      types: someOf(request.types),
      filters: await filtersOf(platform, request.filter),
      ...orderOf(request.order),
    };
    const place = placeOf(request, [SEARCH_ALL.text, variables]);
    const { globalSearch: page } = await platform.graphql(SEARCH_ALL, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    return { objects: nodesOf(page).map(rowOf), ...place.next(page) };
  }),
  unary(searchEntities, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Domain-Object"]);
    const variables = {
      search: searchTextOf(request.query),
      types: someOf(request.types),
      filters: await filtersOf(platform, request.filter),
      ...orderOf(request.order),
    };
    const place = placeOf(request, [SEARCH_ENTITIES.text, variables]);
    const { stixDomainObjects: page } = await platform.graphql(SEARCH_ENTITIES, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    return { entities: nodesOf(page).map(rowOf), ...place.next(page) };
  }),
  unary(searchObservables, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Cyber-Observable"]);
    const variables = {
      search: searchTextOf(request.query),
      types: someOf(request.types),
      filters: await filtersOf(platform, request.filter, ...scored(request.minScore)),
      ...orderOf(request.order),
    };
    const place = placeOf(request, [SEARCH_OBSERVABLES.text, variables]);
    const { stixCyberObservables: page } = await platform.graphql(SEARCH_OBSERVABLES, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    return { observables: nodesOf(page).map(observableOf), ...place.next(page) };
  }),
  unary(searchIndicators, async (request, platform) => {
    const own = scored(request.minScore);
    if (request.patternType !== undefined) own.push({ key: ["pattern_type"], values: [request.patternType] });
    if (request.validOnly) {
      own.push({ key: ["revoked"], values: ["false"] }, { key: ["valid_until"], values: ["now"], operator: "gt" });
    }
    const variables = {
      search: searchTextOf(request.query),
      filters: await filtersOf(platform, request.filter, ...own),
      ...orderOf(request.order),
    };
    const place = placeOf(request, [SEARCH_INDICATORS.text, variables]);
    const { indicators: page } = await platform.graphql(SEARCH_INDICATORS, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    return { indicators: nodesOf(page).map(indicatorRowOf), ...place.next(page) };
  }),
  unary(lookupIoc, async (request, platform) => {
    const value = refang(request.value);
    const algorithm = hashAlgorithmOf(value);
    const filters = any(
      { key: ["value"], values: [value] },
      ...(algorithm === undefined ? [] : [{ key: [`hashes.${algorithm}`], values: [value] }]),
    );
    const { stixCyberObservables } = await platform.graphql(LOOKUP, { filters });
    const matches = nodesOf(stixCyberObservables).map((node) => ({
      ...observableOf(node),
      indicators: nodesOf(node.indicators).map(indicatorRowOf),
      containers: nodesOf(node.containers).map(refOf),
    }));
    return { value, known: matches.length > 0, matches };
  }),
  unary(findEntityByName, async ({ name, types }, platform) => {
    await checkTypes(platform, types, ["Stix-Domain-Object"]);
    const search = async (variables: Pick<VariablesOf<typeof SEARCH_ENTITIES>, "filters" | "search">) => {
      const { stixDomainObjects } = await platform.graphql(SEARCH_ENTITIES, {
        types: someOf(types),
        first: 10,
        ...variables,
      });
      return nodesOf(stixDomainObjects).map(rowOf);
    };
    const named = await search({ filters: any(...NAMES.map((key) => ({ key: [key], values: [name.trim()] }))) });
    if (named.length > 0) return { exact: true, entities: named };
    return { exact: false, entities: await search({ search: searchTextOf(name) }) };
  }),
];
