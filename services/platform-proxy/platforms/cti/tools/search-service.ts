import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { dateOf } from "../../../../shared/dates.js";
import { type Binding, unary } from "../../../binding.js";
import type { VariablesOf } from "../../../document.js";
import { bound, filtersOf, someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { CORE } from "../knowledge.js";
import { lookupBindings } from "../lookup.js";
import { objectRowOf } from "../object-rows.js";
import { INDICATOR, indicatorRowOf, OBSERVABLE, observableOf } from "../observables.js";
import { nodesOf, PAGE } from "../paging.js";
import { all, any, type Filter, type FilterGroup } from "../resolve.js";
import { INDICATOR_PLACES, searchPage, selectionOf, valuesOf } from "../search.js";
import { searchTextOf } from "../text.js";
import { checkTypes } from "../types.js";
import { checkVocabulary } from "../writes.js";

const { searchAll, searchEntities, listObservables, listIndicators, findEntityByName } = SearchService.method;

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
  query ListObservables(
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
  query ListIndicators(
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

const scored = (score: number | undefined): Filter[] =>
  score === undefined ? [] : [{ key: ["x_opencti_score"], values: [String(score)], operator: "gte" }];

/** Leaves out what has a sighting, or what a container holds. */
const lackingOf = (request: { readonly neverSighted: boolean; readonly inNoContainer: boolean }): Filter[] => [
  ...(request.neverSighted ? [lacking("stix-sighting-relationship")] : []),
  ...(request.inNoContainer ? [lacking("object")] : []),
];

const lacking = (type: string): Filter => ({
  key: ["regardingOf"],
  operator: "not_eq",
  values: [{ key: "relationship_type", values: [type] }],
});

/** What bears a name exactly, as it is or as a technique is shown, such as "[T1566] Phishing". */
function bearing(name: string): FilterGroup {
  const names = any(...NAMES.map((key) => ({ key: [key], values: [...new Set([name, name.trim()])] })));
  const [, id, bare] = /^\s*\[([^\]]+)\]\s+(.+?)\s*$/s.exec(name) ?? [];
  if (id === undefined || bare === undefined) return names;
  const shown = all({ key: ["x_mitre_id"], values: [id] }, { key: ["name"], values: [bare] });
  return { mode: "or", filters: [], filterGroups: [names, shown] };
}

/** Where a name may stand; "alias" is each type's own list of other names, and a technique has its ATT&CK id. */
const NAMES = ["name", "alias", "x_mitre_id"];

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(searchAll, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
    const types = someOf(request.types);
    const selection = selectionOf(request.query, await filtersOf(platform, request.filter));
    const { nodes, paging } = await searchPage(request, ["all", types], selection, async (page) => {
      return (await platform.graphql(SEARCH_ALL, { types, ...page })).globalSearch;
    });
    return { objects: nodes.map((node) => objectRowOf(node)), ...paging };
  }),
  unary(searchEntities, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Domain-Object"]);
    const types = someOf(request.types);
    const selection = selectionOf(request.query, await filtersOf(platform, request.filter));
    const { nodes, paging } = await searchPage(request, ["entities", types], selection, async (page) => {
      return (await platform.graphql(SEARCH_ENTITIES, { types, ...page })).stixDomainObjects;
    });
    return { entities: nodes.map((node) => objectRowOf(node)), ...paging };
  }),
  unary(listObservables, async (request, platform) => {
    await checkTypes(platform, request.types, ["Stix-Cyber-Observable"]);
    const types = someOf(request.types);
    const own = [...scored(request.minScore), ...lackingOf(request)];
    const filters = await filtersOf(platform, request.filter, ...own);
    const selection = valuesOf(request.query, filters);
    const { nodes, paging } = await searchPage(
      request,
      ["observables", types],
      selection,
      async ({ orderBy, ...page }) => {
        // Nothing orders observables by name.
        const by = orderBy === "name" ? {} : { orderBy };
        return (await platform.graphql(SEARCH_OBSERVABLES, { types, ...page, ...by })).stixCyberObservables;
      },
    );
    return { observables: nodes.map(observableOf), ...paging };
  }),
  unary(listIndicators, async (request, platform) => {
    const own = [...scored(request.minScore), ...lackingOf(request)];
    if (request.expiresBefore) own.push(bound("valid_until", "lte", dateOf(request.expiresBefore)));
    if (request.patternType !== undefined) own.push({ key: ["pattern_type"], values: [request.patternType] });
    if (request.validOnly) {
      own.push(
        { key: ["revoked"], values: ["false"] },
        { key: ["valid_from"], values: ["now"], operator: "lte" },
        { key: ["valid_until"], values: ["now"], operator: "gt" },
      );
    }
    const filters = await filtersOf(platform, request.filter, ...own);
    const selection = selectionOf(request.query, filters, INDICATOR_PLACES);
    const { nodes, paging } = await searchPage(request, "indicators", selection, async (page) => {
      return (await platform.graphql(SEARCH_INDICATORS, page)).indicators;
    });
    if (request.patternType !== undefined && paging.totalSize === 0)
      await checkVocabulary(platform, "pattern_type_ov", [request.patternType], "pattern_type");
    return { indicators: nodes.map(indicatorRowOf), ...paging };
  }),
  ...lookupBindings,
  unary(findEntityByName, async ({ name, types }, platform) => {
    await checkTypes(platform, types, ["Stix-Domain-Object"]);
    const search = async (variables: Pick<VariablesOf<typeof SEARCH_ENTITIES>, "filters" | "search">) => {
      const { stixDomainObjects } = await platform.graphql(SEARCH_ENTITIES, {
        types: someOf(types),
        first: 10,
        ...variables,
      });
      return nodesOf(stixDomainObjects).map((node) => objectRowOf(node));
    };
    const named = await search({ filters: bearing(name) });
    if (named.length > 0) return { exact: true, entities: named };
    return { exact: false, entities: await search({ search: searchTextOf(name) }) };
  }),
];
