import * as pages from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import { someOf } from "./filters.js";
import { fragment, type NodeOf, operation } from "./graphql.js";
import { END, type EndNode, isVisible, type RefNode } from "./knowledge.js";
import { INDICATOR } from "./observables.js";
import { cursorAfter, nodesOf, PAGE, type Page } from "./paging.js";
import { all, type FilterGroup } from "./resolve.js";

// What the platform counts around an object holds what the caller may not see,
// and it ranks hidden objects among the others. So the relationships are read,
// as the caller, and counted here.

/** So many relationships of an object are read, the newest. */
const MOST_READ = 2_000;
const PAGE_SIZE = 500;

const TIE = fragment(
  `
  fragment Tie on StixCoreRelationship {
    id
    relationship_type
    created_at
    start_time
    createdBy {
      id
      name
    }
    objectMarking {
      definition
    }
    from {
      ...End
    }
    to {
      ...End
    }
  }
`,
  [END],
);

/** Relationships of an object with their ends, newest first. */
export const AROUND = operation(
  `
  query Around($id: [String], $types: [String], $filters: FilterGroup, $first: Int, $after: ID) {
    stixCoreRelationships(
      fromOrToId: $id
      relationship_type: $types
      filters: $filters
      first: $first
      after: $after
      orderBy: created_at
      orderMode: desc
    ) {
      edges {
        node {
          ...Tie
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [TIE, PAGE],
);

/** The techniques that an object is said to use. */
export const TECHNIQUES_OF = operation(
  `
  query TechniquesOf($id: [String], $first: Int, $after: ID) {
    stixCoreRelationships(
      fromId: $id
      relationship_type: ["uses"]
      toTypes: ["Attack-Pattern"]
      first: $first
      after: $after
      orderBy: created_at
      orderMode: desc
    ) {
      edges {
        node {
          id
          to {
            ... on AttackPattern {
              id
              entity_type
              representative {
                main
                secondary
              }
              killChainPhases {
                phase_name
              }
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

/** The indicators that point to an object. */
export const INDICATORS_AROUND = operation(
  `
  query IndicatorsAround($id: [String], $first: Int, $after: ID) {
    stixCoreRelationships(
      toId: $id
      relationship_type: ["indicates", "based-on"]
      fromTypes: ["Indicator"]
      first: $first
      after: $after
      orderBy: created_at
      orderMode: desc
    ) {
      edges {
        node {
          id
          from {
            ...Ind
          }
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

/** What was read of a list whose pages follow each other. */
export interface WholeRead<Node> {
  readonly nodes: readonly Node[];
  /** There are more, which were not read. */
  readonly isLowerBound: boolean;
}

/** Reads a list of the platform to its end, or as far as is looked at. */
export async function readWhole<Node extends { readonly id: string }>(
  read: (place: { readonly first: number; readonly after: string | null }) => Promise<Page<Node> | null>,
): Promise<WholeRead<Node>> {
  const nodes = new Map<string, Node>();
  let after: string | null = null;
  for (;;) {
    const page: Page<Node> | null = await read({ first: PAGE_SIZE, after });
    for (const node of nodesOf(page)) nodes.set(node.id, node);
    const next = page === null ? undefined : cursorAfter(page);
    if (next === undefined || nodes.size >= MOST_READ)
      return {
        nodes: [...nodes.values()],
        isLowerBound: next !== undefined && nodes.size >= MOST_READ && (page?.pageInfo.globalCount ?? 0) > nodes.size,
      };
    after = next;
  }
}

/** Which relationships of an object. */
export interface Around {
  readonly relationshipTypes: readonly string[];
  readonly otherTypes: readonly string[];
}

/** A relationship of an object whose other end the caller sees. */
export interface Tie {
  readonly type: string;
  readonly other: RefNode;
  readonly createdAt: string;
  readonly startTime: string | null;
  readonly author: { readonly id: string; readonly name: string } | undefined;
  readonly markings: readonly string[];
}

/** The relationships of an object, either way, whose other end the caller sees. */
export async function tiesOf(
  platform: Platform,
  id: string,
  { relationshipTypes, otherTypes }: Around,
): Promise<{ readonly ties: readonly Tie[]; readonly isLowerBound: boolean }> {
  const variables = { id: [id], types: someOf(relationshipTypes), filters: othersOf(id, otherTypes) };
  const { nodes, isLowerBound } = await readWhole(async (place) => {
    return (await platform.graphql(AROUND, { ...variables, ...place })).stixCoreRelationships;
  });
  return { ties: nodes.flatMap((node) => tieOf(node, id)), isLowerBound };
}

function tieOf(node: NodeOf<typeof TIE>, id: string): Tie[] {
  const { from, to } = node;
  const other: EndNode | null = from?.id === id ? to : from;
  if (!isVisible(other)) return [];
  return [
    {
      type: node.relationship_type,
      other,
      createdAt: node.created_at,
      startTime: node.start_time,
      author: node.createdBy ?? undefined,
      markings: (node.objectMarking ?? []).flatMap(({ definition }) => (definition ? [definition] : [])),
    },
  ];
}

/** Narrows to other ends of some types; the platform's own argument for it would match the object itself too. */
export function othersOf(id: string, types: readonly string[]): FilterGroup | undefined {
  if (types.length === 0) return undefined;
  const outwards = all({ key: ["fromId"], values: [id] }, { key: ["toTypes"], values: types });
  const inwards = all({ key: ["toId"], values: [id] }, { key: ["fromTypes"], values: types });
  return { mode: "or", filters: [], filterGroups: [outwards, inwards] };
}

/**
 * One page of rows that were read whole: it begins after the last row of the
 * one before, whatever was written in between.
 *
 * @param keyOf what the rows stand in the order of, in texts; no two are the same.
 */
export function pageOfRows<Row>(
  request: pages.PageRequest,
  query: unknown,
  { nodes, isLowerBound }: WholeRead<Row>,
  keyOf: (row: Row) => string,
): { readonly rows: readonly Row[]; readonly paging: pages.Paging } {
  const place = pages.placeOf(request, query);
  const keyed = nodes.map((row) => ({ row, key: keyOf(row) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const last = place.cursor === undefined ? undefined : Buffer.from(place.cursor, "base64url").toString();
  const rest = last === undefined ? keyed : keyed.filter(({ key }) => key > last);
  const shown = rest.slice(0, place.size);
  const isLast = shown.length === rest.length;
  const cursor = Buffer.from(shown.at(-1)?.key ?? "").toString("base64url");
  const paging = pages.pagingOf(place, {
    totalSize: nodes.length,
    isLowerBound,
    rowCount: shown.length,
    isLast,
    ...(!isLast && { cursor }),
  });
  return { rows: shown.map(({ row }) => row), paging };
}
