import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { notFound } from "../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../binding.js";
import type { DataOf } from "../../document.js";
import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";
import { timeOf } from "./knowledge.js";
import { nodesOf, PAGE, placeOf } from "./paging.js";
import { all, type FilterGroup, OBJECT, visibleOf } from "./resolve.js";

// An entry keeps the markings that its object, and the ends of a relationship,
// had when it was written, and its sentence the names. What was hidden since is
// told in it still, to whoever may see the entry.

/** What happened to an object. */
export const HISTORY = operation(
  `
  query History($filters: FilterGroup, $first: Int, $after: ID) {
    logs(first: $first, after: $after, orderBy: timestamp, orderMode: desc, filters: $filters) {
      edges {
        node {
          event_scope
          timestamp
          user {
            name
          }
          context_data {
            entity_type
            from_id
            to_id
            message
            commit
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

/** What else has a history: a relationship, a sighting, or what these and objects refer to. */
export const SUBJECT = operation(`
  query Subject($id: String!) {
    stixObjectOrStixRelationship(id: $id) {
      ... on BasicObject {
        id
      }
      ... on BasicRelationship {
        id
      }
    }
  }
`);

type LogNode = ReturnType<typeof nodesOf<NonNullable<Log>>>[number];
type Log = NonNullable<NonNullable<NonNullable<DataOf<typeof HISTORY>["logs"]>["edges"]>[number]>["node"];

/** How the history of an object is told. */
export const historyBindings: readonly Binding[] = [
  unary(InsightService.method.listEntityChanges, async (request, platform) => {
    const id = await subjectOf(platform, request.objectId);
    const place = placeOf(request, ["history", id]);
    const { logs } = await platform.graphql(HISTORY, {
      filters: actsOn(id),
      first: place.first,
      after: place.after,
    });
    const acts = nodesOf(logs);
    const ends = new Set(acts.flatMap(endsOf));
    const seen = new Set((await visibleOf(platform, [...ends])).map((node) => node.id));
    return {
      entries: acts.map((act) => ({
        ...timeOf("at", act.timestamp),
        user: act.user?.name ?? "",
        act: act.event_scope ?? "",
        message: isTold(act, seen) ? (act.context_data?.message ?? "") : "",
        commitMessage: act.context_data?.commit ?? "",
        fields: (act.context_data?.changes ?? []).flatMap((change) => (change === null ? [] : [change.field])),
      })),
      ...place.next(logs),
    };
  }),
];

const actsOn = (id: string): FilterGroup =>
  all(
    { key: ["context_data.id"], values: [id] },
    { key: ["event_type"], values: ["mutation", "create", "update", "delete", "merge"] },
  );

const endsOf = ({ context_data }: LogNode): string[] =>
  [context_data?.from_id, context_data?.to_id].filter((id) => typeof id === "string");

/** The types of relationships begin with a small letter, and those of objects do not. */
const isRelationship = ({ context_data }: LogNode): boolean => /^[a-z]/.test(context_data?.entity_type ?? "");

/** Whether a sentence names nothing hidden. Of a sighting the platform does not say which its ends are. */
function isTold(act: LogNode, seen: ReadonlySet<string>): boolean {
  if (!isRelationship(act)) return true;
  const ends = endsOf(act);
  return ends.length === 2 && ends.every((id) => seen.has(id));
}

const INTERNAL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The internal id. A deleted object has a history still, and only that id leads
 * to it: it ends with the deletion, where the caller could see it to its end.
 *
 * @throws ConnectError not_found, for what does not exist and what is hidden alike.
 */
async function subjectOf(platform: Platform, id: string): Promise<string> {
  const { stixCoreObject } = await platform.graphql(OBJECT, { id });
  if (stixCoreObject !== null) return stixCoreObject.id;
  const { stixObjectOrStixRelationship: subject } = await platform.graphql(SUBJECT, { id });
  if (subject !== null && "id" in subject) return subject.id;
  if (INTERNAL_ID.test(id)) {
    const { logs } = await platform.graphql(HISTORY, { filters: actsOn(id), first: 1, after: null });
    if (nodesOf(logs)[0]?.event_scope === "delete") return id;
  }
  throw notFound(
    `object_id: no object with the id ${id} exists or is visible to you; for a deleted object, give its internal id and wait a few seconds after the deletion`,
  );
}
