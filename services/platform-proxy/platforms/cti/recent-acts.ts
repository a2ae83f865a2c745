import type { DataOf } from "../../document.js";
import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";
import { END, type EndNode, isVisible, refOf, timeOf } from "./knowledge.js";
import { nodesOf, PAGE } from "./paging.js";
import { all, visibleOf } from "./resolve.js";

// What the platform says of an act may name what was hidden since. So objects
// are looked up as the caller, and a name of the act itself is told only of what
// cannot have been hidden: it is gone, or is of a type without markings.

/** What happened on the platform. */
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
            entity_type
            entity_name
            from_id
            to_id
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

/** Relationships and sightings by their ids, with their ends. */
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
    stixSightingRelationships(filters: $filters, first: $first) {
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

/** An act as the platform keeps it. */
export type Act = NonNullable<NonNullable<NonNullable<DataOf<typeof RECENT>["logs"]>["edges"]>[number]>["node"];

/** An act as it is told. */
export type Change = Awaited<ReturnType<typeof changesOf>>[number];

/** Acts as they are told: what the caller does not see is not named. */
export async function changesOf(platform: Platform, acts: readonly Act[]) {
  const seen = await seenOf(platform, [...new Set(acts.flatMap(idsOf))]);
  return acts.map((act) => {
    const { event_scope, timestamp, user, context_data } = act;
    const object = seen.get(context_data?.entity_id ?? "") ?? unhidable(act, seen);
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

type Seen = ReadonlyMap<string, ReturnType<typeof refOf>>;

const isGone = ({ event_scope }: Act): boolean => event_scope === "delete";

/** What an act is on, and the ends of a relationship that is gone. */
const idsOf = (act: Act): string[] => {
  const { entity_id, from_id, to_id } = act.context_data ?? {};
  return [entity_id, ...(isGone(act) ? [from_id, to_id] : [])].filter((id) => typeof id === "string");
};

/** Types without markings: everybody who reads knowledge sees their objects. */
const OPEN = ["External-Reference", "Kill-Chain-Phase", "Label", "Marking-Definition", "Vocabulary"];

/** What an act says that it is on, where that cannot have been hidden since. */
function unhidable(act: Act, seen: Seen) {
  const { entity_id: id, entity_type: type, entity_name: name, from_id, to_id } = act.context_data ?? {};
  if (!id || !type || !(OPEN.includes(type) || isGone(act))) return undefined;
  // The types of relationships begin with a small letter; their ends are there still.
  if (!/^[a-z]/.test(type)) return { id, type, name: name ?? "" };
  return { id, type, name: from_id && to_id ? nameOf(seen.get(from_id)?.name, type, seen.get(to_id)?.name) : "" };
}

const nameOf = (from = HIDDEN, type: string, to = HIDDEN): string => `${from} ${type} ${to}`;

const HIDDEN = "(not visible to you)";

/** Of these ids the objects and relationships that the caller sees, each asked for as the caller. */
async function seenOf(platform: Platform, ids: readonly string[]): Promise<Seen> {
  const seen = new Map((await visibleOf(platform, ids)).map((node) => [node.id, refOf(node)]));
  const others = ids.filter((id) => !seen.has(id));
  if (others.length === 0) return seen;
  const { stixCoreRelationships, stixSightingRelationships } = await platform.graphql(RELATED, {
    filters: all({ key: ["ids"], values: others }),
    first: others.length,
  });
  const name = (end: EndNode | null) => (isVisible(end) ? end.representative.main : undefined);
  for (const { id, entity_type: type, from, to } of [
    ...nodesOf(stixCoreRelationships),
    ...nodesOf(stixSightingRelationships),
  ])
    seen.set(id, { id, type, name: nameOf(name(from), type, name(to)) });
  return seen;
}
