import * as pages from "../../lib/pages.js";
import type { Platform } from "../../platform.js";
import { CONTAINER, LIST_CONTAINERS } from "./container-rows.js";
import { filtersOf } from "./filters.js";
import { type NodeOf, operation } from "./graphql.js";
import type { ListRequest } from "./lists.js";
import { cursorAfter, nodesOf, PAGE, type Page } from "./paging.js";
import { all, every, type Filter } from "./resolve.js";
import { type PageVariables, selectionOf } from "./search.js";

// The platform orders containers by an attribute that notes, opinions and
// observed data lack. So those follow the others: notes by their titles, and
// the rest, which has none, by its age.

/** Notes as containers, which only their own list orders by their titles. */
export const LIST_TITLED = operation(
  `
  query ListTitled(
    $search: String
    $first: Int
    $after: ID
    $filters: FilterGroup
    $orderBy: NotesOrdering
    $orderMode: OrderingMode
  ) {
    notes(search: $search, first: $first, after: $after, filters: $filters, orderBy: $orderBy, orderMode: $orderMode) {
      edges {
        node {
          ...ContainerRow
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [CONTAINER, PAGE],
);

type Row = NodeOf<typeof CONTAINER>;

interface Part {
  readonly types: readonly string[];
  read(platform: Platform, page: Omit<PageVariables, "orderBy" | "orderMode">): Promise<Page<Row> | null>;
}

const inOrder =
  (orderBy: "name" | "created_at"): Part["read"] =>
  async (platform, page) =>
    (await platform.graphql(LIST_CONTAINERS, { ...page, orderBy, orderMode: "asc" })).containers;

const NOTES: Part = {
  types: ["Note"],
  read: async (platform, page) =>
    (await platform.graphql(LIST_TITLED, { ...page, orderBy: "attribute_abstract", orderMode: "asc" })).notes,
};
const UNNAMED: Part = { types: ["Opinion", "Observed-Data"], read: inOrder("created_at") };

/** Whether containers of a type have no name that the platform orders by. */
export const isNameless = (type: string): boolean => [...NOTES.types, ...UNNAMED.types].includes(type);

/** One page of containers of some types by name: the parts one after the other. */
export async function containersByName(
  platform: Platform,
  request: ListRequest,
  types: readonly string[],
  own: readonly Filter[],
) {
  const selection = selectionOf(request.query, await filtersOf(platform, request.filter, ...own));
  const named: Part = { types: types.filter((type) => !isNameless(type)), read: inOrder("name") };
  const parts = [named, NOTES, UNNAMED]
    .map((part) => ({ ...part, types: part.types.filter((type) => types.includes(type)) }))
    .filter((part) => part.types.length > 0);
  const place = pages.placeOf(request, ["containers by name", selection, types]);
  const read = (part: Part, first: number, after: string | null) => {
    const filters = every(selection.filters, all({ key: ["entity_type"], values: part.types }));
    return part.read(platform, { ...selection, filters, first, after });
  };

  const [, index = "0", cursor = ""] = /^(\d)~(.*)$/s.exec(place.cursor ?? "") ?? [];
  let at = Number(index);
  let after: string | null = cursor || null;
  const nodes: Row[] = [];
  const sizes = new Map<number, number>();
  while (at < parts.length && nodes.length < place.size) {
    const page = await read(parts[at] as Part, place.size - nodes.length, after);
    nodes.push(...nodesOf(page));
    sizes.set(at, page?.pageInfo.globalCount ?? 0);
    after = page === null ? null : (cursorAfter(page) ?? null);
    if (after === null) at++;
  }
  for (const [i, part] of parts.entries())
    if (!sizes.has(i)) sizes.set(i, (await read(part, 1, null))?.pageInfo.globalCount ?? 0);
  const totalSize = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const isLast = parts.slice(at).every((_, i) => after === null && sizes.get(at + i) === 0);
  const paging = pages.pagingOf(place, {
    totalSize,
    rowCount: nodes.length,
    isLast,
    ...(!isLast && { cursor: `${at}~${after ?? ""}` }),
  });
  return { nodes, paging };
}
