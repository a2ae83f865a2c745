import { type KnowledgeFilter, Order } from "#proto/cti/v1/knowledge_pb.js";
import { dateOf } from "../../../shared/dates.js";
import type { Platform } from "../../platform.js";
import { authorIdOf, labelIdsOf, markingsOf } from "./names.js";
import { all, type Filter, type FilterGroup } from "./resolve.js";

/** Makes the platform's filters of ours; names become internal ids. @throws ConnectError where one is unknown. */
export async function filtersOf(
  platform: Platform,
  filter: KnowledgeFilter | undefined,
  ...own: Filter[]
): Promise<FilterGroup | undefined> {
  const filters = [...own];
  if (filter !== undefined) {
    const labels = await labelIdsOf(platform, filter.labels, "filter.labels");
    if (labels.length > 0) filters.push({ key: ["objectLabel"], values: labels });
    const markings = await markingsOf(platform, filter.markings, "filter.markings");
    if (markings.length > 0) filters.push({ key: ["objectMarking"], values: markings.map(({ id }) => id) });
    if (filter.author !== undefined) {
      filters.push({ key: ["createdBy"], values: [await authorIdOf(platform, filter.author, "filter.author")] });
    }
    const { createdAfter, createdBefore, updatedAfter, minConfidence } = filter;
    if (createdAfter) filters.push(bound("created_at", "gte", dateOf(createdAfter)));
    if (createdBefore) filters.push(bound("created_at", "lte", dateOf(createdBefore)));
    if (updatedAfter) filters.push(bound("updated_at", "gte", dateOf(updatedAfter)));
    if (minConfidence !== undefined)
      filters.push({ key: ["confidence"], values: [String(minConfidence)], operator: "gte" });
  }
  return filters.length === 0 ? undefined : all(...filters);
}

/** A list argument, left out where it is empty: some operations would take an empty list for something else than all. */
export const someOf = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

/** A condition on a time. */
export const bound = (key: string, operator: "gte" | "lte", at: Date): Filter => ({
  key: [key],
  values: [at.toISOString()],
  operator,
});

/** An order that every list of objects takes; observables by name none. */
export interface Ordering {
  readonly orderBy?: "created_at" | "name";
  readonly orderMode?: "asc" | "desc";
}

/** The order as the platform takes it; left to it where none is asked for, which is relevance for a search. */
export function orderOf(order: Order): Ordering {
  switch (order) {
    case Order.NEWEST:
      return { orderBy: "created_at", orderMode: "desc" };
    case Order.OLDEST:
      return { orderBy: "created_at", orderMode: "asc" };
    case Order.NAME:
      return { orderBy: "name", orderMode: "asc" };
    default:
      return {};
  }
}
