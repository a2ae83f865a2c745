import { failedPrecondition, notFound, unavailable } from "../../../shared/rpc/errors.js";
import type { DataOf, VariablesOf } from "../../document.js";
import type { Platform } from "../../platform.js";
import { fragment, type NodeOf, operation } from "./graphql.js";
import { END, type EndNode, REF } from "./knowledge.js";
import { nodesOf, PAGE, type Page } from "./paging.js";
import { all, objectOf, type TargetNode } from "./resolve.js";

// The platform looks for what a container holds among that and what holds the
// container, such as notes about it, and takes the latter out of each page. So
// its pages may be short or empty before the end, and its count is of both.

/** What a container holds; of a relationship the ends are asked for too, which name it. */
const CONTAINED = fragment(
  `
  fragment Contained on StixObjectOrStixRelationship {
    ...Ref
    ... on StixCoreRelationship {
      id
      entity_type
      from {
        ...End
      }
      to {
        ...End
      }
    }
    ... on StixSightingRelationship {
      id
      entity_type
      from {
        ...End
      }
      to {
        ...End
      }
    }
  }
`,
  [REF, END],
);

/** What a container holds. */
export const CONTENTS = operation(
  `
  query Contents(
    $id: String
    $types: [String]
    $first: Int
    $after: ID
    $search: String
    $filters: FilterGroup
    $orderBy: StixObjectOrStixRelationshipsOrdering
    $orderMode: OrderingMode
  ) {
    container(id: $id) {
      objects(
        types: $types
        first: $first
        after: $after
        search: $search
        filters: $filters
        orderBy: $orderBy
        orderMode: $orderMode
      ) {
        edges {
          cursor
          node {
            ...Contained
          }
        }
        pageInfo {
          ...Page
        }
      }
    }
  }
`,
  [CONTAINED, PAGE],
);

/** The rows of what a container holds, without anything of them. */
export const COUNT_CONTENTS = operation(`
  query CountContents($id: String, $types: [String], $first: Int, $search: String, $filters: FilterGroup) {
    container(id: $id) {
      objects(types: $types, first: $first, search: $search, filters: $filters) {
        edges {
          cursor
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  }
`);

/** How many objects a container holds, to be counted: see countOf. */
export const COUNTED = fragment(`
  fragment Counted on Container {
    objects(first: 2000) {
      edges {
        cursor
      }
      pageInfo {
        hasNextPage
      }
    }
  }
`);

/** So many are counted, the number in COUNTED. */
const MOST_COUNTED = 2_000;

/** How many objects a container holds that the caller may see. */
export interface Count {
  readonly objectCount: number;
  readonly objectCountIsLowerBound?: boolean;
}

/** Counts the rows that were read. */
export function countOf(objects: NodeOf<typeof COUNTED>["objects"]): Count {
  const objectCount = objects?.edges?.length ?? 0;
  return { objectCount, ...(objects?.pageInfo.hasNextPage && { objectCountIsLowerBound: true }) };
}

type Contents = VariablesOf<typeof CONTENTS>;

/** One page of what a container holds, as full as there is something for it. */
export async function contentsPage(platform: Platform, variables: Contents & { readonly first: number }) {
  // Together, so that the failure of either is heard of: one that nobody waits for would end the process.
  const [page, count] = await Promise.all([fullPage(platform, variables), counted(platform, variables)]);
  return page === null ? null : toldOf(page, variables.first, count);
}

async function fullPage(platform: Platform, variables: Contents & { readonly first: number }) {
  const read = async (first: number) => pageOf(await platform.graphql(CONTENTS, { ...variables, first }));
  let first = variables.first;
  let page = await read(first);
  while (page !== null && page.edges?.length === 0 && page.pageInfo.hasNextPage && first < MOST_COUNTED) {
    first *= 4;
    page = await read(first);
  }
  return page;
}

type ContentsPage = NonNullable<NonNullable<DataOf<typeof CONTENTS>["container"]>["objects"]>;

/** A page cut to its size, with the count of what it is a page of. */
function toldOf(
  page: ContentsPage,
  size: number,
  { objectCount, objectCountIsLowerBound = false }: Count,
): Page<Contained> {
  const edges = (page.edges ?? []).filter((edge) => edge !== null);
  const rows = edges.slice(0, size);
  const isCut = rows.length < edges.length;
  return {
    edges: rows.map(({ node }) => ({ node: containedOf(node) })),
    pageInfo: {
      globalCount: objectCount,
      hasNextPage: isCut || page.pageInfo.hasNextPage,
      endCursor: rows.at(-1)?.cursor ?? "",
    },
    isLowerBound: objectCountIsLowerBound,
  };
}

async function counted(platform: Platform, { id, types, search, filters }: Contents): Promise<Count> {
  const { container } = await platform.graphql(COUNT_CONTENTS, { id, types, search, filters, first: MOST_COUNTED });
  return countOf(container?.objects ?? null);
}

/** Which of these a container holds, and how many objects in all. */
export async function heldOf(
  platform: Platform,
  id: string,
  ids: readonly string[],
): Promise<{ readonly held: ReadonlySet<string>; readonly count: Count }> {
  const held = await membersOf(platform, id, ids);
  return { held, count: await counted(platform, { id }) };
}

/** Which of these a container holds. */
export async function membersOf(platform: Platform, id: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const filters = all({ key: ["ids"], values: ids });
  const found = pageOf(await platform.graphql(CONTENTS, { id, first: ids.length, filters }));
  return new Set(nodesOf(found).map((node) => node.id ?? ""));
}

/** The container that an argument names. @throws ConnectError not_found, or failed_precondition for what is none. */
export async function targetOf(platform: Platform, id: string): Promise<TargetNode> {
  const target = await objectOf(platform, id, "container_id");
  if (!target.parent_types.includes("Container"))
    throw failedPrecondition(
      `container_id: an object of type ${target.entity_type} is not a container; use list_containers to find one`,
    );
  return target;
}

function pageOf({ container }: DataOf<typeof CONTENTS>) {
  if (container === null) throw notFound("container_id: the container no longer exists or is no longer visible to you");
  return container.objects;
}

/** One thing that a container holds. */
export interface Contained {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly relationship?: boolean;
}

function containedOf(node: NodeOf<typeof CONTAINED>): Contained {
  const { id, entity_type: type, from, to, representative } = node;
  if (id === undefined || type === undefined)
    throw unavailable(
      "OpenCTI listed an object without an id or a type; an administrator checks the version of OpenCTI",
    );
  if (representative !== undefined) return { id, type, name: representative.main };
  // Where an end is hidden the platform still gives its id; only what is visible is told.
  const name = (end: EndNode | null | undefined) => end?.representative?.main ?? "(not visible to you)";
  return { id, type, name: `${name(from)} ${type} ${name(to)}`, relationship: true };
}
