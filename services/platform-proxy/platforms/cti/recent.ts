import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { dateOf } from "../../../shared/dates.js";
import { type Binding, unary } from "../../binding.js";
import type { DataOf } from "../../document.js";
import { inTurns } from "../../lib/in-turns.js";
import type { Platform } from "../../platform.js";
import { bound } from "./filters.js";
import { operation } from "./graphql.js";
import { END, type EndNode, isVisible, refOf, timeOf } from "./knowledge.js";
import { cursorAfter, nodesOf, PAGE, type Page, type Place, placeOf } from "./paging.js";
import { all, type Filter, type FilterGroup, visibleOf } from "./resolve.js";
import { checkTypes, namesBelow, relationTypesOf } from "./types.js";

/** What happened on the platform. What it says of an act may name what the caller may not see, and is not asked for. */
export const RECENT = operation(
  `
  query Recent($filters: FilterGroup, $first: Int, $after: ID) {
    logs(first: $first, after: $after, orderBy: timestamp, orderMode: desc, filters: $filters) {
      edges {
        cursor
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
    const { since, until, acts, fields } = request;
    const filters = all(
      { key: ["event_type"], values: ["mutation", "create", "update", "delete", "merge"] },
      ...(since === undefined ? [] : [bound("timestamp", "gte", dateOf(since))]),
      ...(until === undefined ? [] : [bound("timestamp", "lte", dateOf(until))]),
      ...(acts.length === 0 ? [] : [{ key: ["event_scope"], values: acts }]),
      ...(await ofTypes(platform, request.types)),
    );
    const place = placeOf(request, ["recent", filters, fields]);
    if (fields.length === 0) {
      const { logs } = await platform.graphql(RECENT, { filters, first: place.first, after: place.after });
      return { changes: await changesOf(platform, nodesOf(logs)), ...place.next(logs) };
    }
    const { changes, after } = await look(platform, filters, fields, place);
    return { changes, ...place.next(foundOf(changes, after)) };
  }),
];

type Act = ReturnType<typeof nodesOf<Node>>[number];
type Node = NonNullable<NonNullable<NonNullable<DataOf<typeof RECENT>["logs"]>["edges"]>[number]>["node"];

/** Acts of one request, and requests of one page: the platform does not filter by field. */
const [AT_ONCE, TIMES] = [100, 5];

/** Looks through acts from a place on for those that changed a field, until a page is full or enough was looked at. */
async function look(platform: Platform, filters: FilterGroup, fields: readonly string[], place: Place) {
  const wanted = new Set(fields.map((field) => field.toLowerCase()));
  const changes: Awaited<ReturnType<typeof changesOf>> = [];
  let { after } = place;
  for (let time = 0; time < TIMES; time++) {
    const { logs } = await platform.graphql(RECENT, { filters, first: AT_ONCE, after });
    const edges = (logs?.edges ?? []).flatMap((edge) => (edge === null ? [] : [edge]));
    const told = await changesOf(
      platform,
      edges.map(({ node }) => node),
    );
    for (const [i, change] of told.entries()) {
      if (change.fields.some((field) => wanted.has(field.toLowerCase()))) changes.push(change);
      after = edges[i]?.cursor ?? after;
      if (changes.length === place.first) return { changes, after };
    }
    if (logs === null || cursorAfter(logs) === undefined) return { changes, after: null };
  }
  return { changes, after };
}

/** A page that was put together of acts that were looked through: how many others there are is not known. */
function foundOf(changes: readonly unknown[], after: string | null): Page<unknown> {
  return {
    edges: changes.map((node) => ({ node })),
    pageInfo: { endCursor: after ?? "", hasNextPage: after !== null, globalCount: changes.length },
    isLowerBound: after !== null,
  };
}

/** The filter by the types of what was changed: the platform keeps the exact type of each. */
async function ofTypes(platform: Platform, types: readonly string[]): Promise<Filter[]> {
  if (types.length === 0) return [];
  const relations = [...(await relationTypesOf(platform)), SIGHTING];
  const objects = types.filter((type) => !relations.includes(type));
  await checkTypes(platform, objects, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
  const below = await inTurns(objects, (type) => namesBelow(platform, type));
  return [{ key: ["context_data.entity_type"], values: [...new Set([...types, ...below.flat()])] }];
}

const SIGHTING = "stix-sighting-relationship";

/** Acts as they are told: what the caller does not see is not named. */
async function changesOf(platform: Platform, acts: readonly Act[]) {
  const ids = acts.flatMap(({ context_data }) => (context_data?.entity_id ? [context_data.entity_id] : []));
  const seen = await seenOf(platform, [...new Set(ids)]);
  return acts.map(({ event_scope, timestamp, user, context_data }) => {
    const object = seen.get(context_data?.entity_id ?? "");
    const changed = (context_data?.changes ?? []).flatMap((one) => (one === null ? [] : [one.field]));
    return {
      ...timeOf("at", timestamp),
      user: user?.name ?? "",
      act: event_scope ?? "",
      ...(object !== undefined && { object }),
      fields: object === undefined ? [] : changed,
    };
  });
}

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
