import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { dateOf } from "../../../shared/dates.js";
import { type Binding, unary } from "../../binding.js";
import type { Platform } from "../../platform.js";
import { bound } from "./filters.js";
import { operation } from "./graphql.js";
import { END, type EndNode, isVisible, refOf, timeOf } from "./knowledge.js";
import { nodesOf, PAGE, placeOf } from "./paging.js";
import { all, visibleOf } from "./resolve.js";

/** What happened on the platform. What it says of an act may name what the caller may not see, and is not asked for. */
export const RECENT = operation(
  `
  query Recent($filters: FilterGroup, $first: Int, $after: ID) {
    logs(first: $first, after: $after, orderBy: timestamp, orderMode: desc, filters: $filters) {
      edges {
        node {
          event_scope
          timestamp
          user {
            name
          }
          context_data {
            entity_id
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

/** Relationships by their ids, with their ends. */
export const RELATED = operation(
  `
  query Related($filters: FilterGroup, $first: Int) {
    stixCoreRelationships(filters: $filters, first: $first) {
      edges {
        node {
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
    }
  }
`,
  [END],
);

/** How recent changes are told. */
export const recentBindings: readonly Binding[] = [
  unary(InsightService.method.listRecentChanges, async (request, platform) => {
    const { since } = request;
    const filters = all(
      { key: ["event_type"], values: ["mutation", "create", "update", "delete", "merge"] },
      ...(since === undefined ? [] : [bound("timestamp", "gte", dateOf(since))]),
    );
    const place = placeOf(request, ["recent", filters]);
    const { logs } = await platform.graphql(RECENT, { filters, first: place.first, after: place.after });
    const acts = nodesOf(logs);
    const seen = await seenOf(platform, [
      ...new Set(acts.flatMap(({ context_data }) => (context_data?.entity_id ? [context_data.entity_id] : []))),
    ]);
    const changes = acts.map(({ event_scope, timestamp, user, context_data }) => {
      const object = seen.get(context_data?.entity_id ?? "");
      return {
        ...timeOf("at", timestamp),
        user: user?.name ?? "",
        act: event_scope ?? "",
        ...(object !== undefined && { object }),
        fields:
          object === undefined ? [] : (context_data?.changes ?? []).flatMap((one) => (one === null ? [] : [one.field])),
      };
    });
    return { changes, ...place.next(logs) };
  }),
];

/** Of these ids the objects and relationships that the caller sees, each asked for as the caller. */
async function seenOf(platform: Platform, ids: readonly string[]) {
  const seen = new Map((await visibleOf(platform, ids)).map((node) => [node.id, refOf(node)]));
  const others = ids.filter((id) => !seen.has(id));
  if (others.length === 0) return seen;
  const { stixCoreRelationships } = await platform.graphql(RELATED, {
    filters: all({ key: ["ids"], values: others }),
    first: others.length,
  });
  const name = (end: EndNode | null) => (isVisible(end) ? end.representative.main : "(not visible to you)");
  for (const { id, entity_type: type, from, to } of nodesOf(stixCoreRelationships))
    seen.set(id, { id, type, name: `${name(from)} ${type} ${name(to)}` });
  return seen;
}
