import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Direction, RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { alreadyExists } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { type Binding, unary } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { someOf } from "../filters.js";
import { fragment, type NodeOf, operation } from "../graphql.js";
import { END, isVisible, numberOf, type RefNode, refOf, timeOf } from "../knowledge.js";
import { nodesOf, PAGE, placeOf } from "../paging.js";
import { all, type FilterGroup, objectOf, objectsOf } from "../resolve.js";
import { checkRelationTypes, checkTypes } from "../types.js";
import { inputOf, madeOf } from "../writes.js";

const { getEntityRelationships, createRelationship } = RelationshipService.method;

/** The fields that make a relationship. */
const RELATIONSHIP = fragment(
  `
  fragment Rel on StixCoreRelationship {
    id
    relationship_type
    description
    confidence
    start_time
    stop_time
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

/** Relationships of an object, newest first. */
export const LIST_RELATIONSHIPS = operation(
  `
  query ListRelationships($id: [String], $types: [String], $filters: FilterGroup, $first: Int, $after: ID) {
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
          ...Rel
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [RELATIONSHIP, PAGE],
);

/** Relationships of a type between two objects. */
export const SAME_RELATIONSHIPS = operation(`
  query SameRelationships($from: [String], $to: [String], $types: [String]) {
    stixCoreRelationships(fromId: $from, toId: $to, relationship_type: $types, first: 100) {
      edges {
        node {
          id
          start_time
        }
      }
    }
  }
`);

/** Relates two objects. */
export const CREATE_RELATIONSHIP = operation(
  `
  mutation CreateRelationship($input: StixCoreRelationshipAddInput) {
    stixCoreRelationshipAdd(input: $input) {
      ...Rel
    }
  }
`,
  [RELATIONSHIP],
);

type RelationshipNode = NodeOf<typeof RELATIONSHIP>;

const relationshipOf = (node: RelationshipNode) => ({
  id: node.id,
  type: node.relationship_type,
  description: node.description ?? "",
  ...numberOf("confidence", node.confidence),
  ...timeOf("startTime", node.start_time),
  ...timeOf("stopTime", node.stop_time),
});

/** A row of an object's relationships; none where the other end is hidden, which the platform lists with its id. */
function rowsOf(node: RelationshipNode, id: string) {
  const { from, to } = node;
  if (!isVisible(from) || !isVisible(to)) return [];
  const outgoing = from.id === id || to.id !== id;
  const direction = outgoing ? Direction.OUTGOING : Direction.INCOMING;
  const { stopTime: _, ...told } = relationshipOf(node);
  return [{ ...told, description: shorten(node.description), direction, other: refOf(outgoing ? to : from) }];
}

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(getEntityRelationships, async (request, platform) => {
    await checkTypes(platform, request.otherTypes, ["Stix-Domain-Object", "Stix-Cyber-Observable"], "other_types");
    await checkRelationTypes(platform, request.relationshipTypes, "relationship_types");
    const object = await objectOf(platform, request.objectId);
    const variables = {
      id: [object.id],
      types: someOf(request.relationshipTypes),
      filters: othersOf(object.id, request.otherTypes),
    };
    const place = placeOf(request, ["relationships", variables]);
    const { stixCoreRelationships: page } = await platform.graphql(LIST_RELATIONSHIPS, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    const nodes = nodesOf(page);
    const relationships = nodes.flatMap((node) => rowsOf(node, object.id));
    const hidden = nodes.length - relationships.length;
    return { object: refOf(object), relationships, hidden, ...place.next(page) };
  }),
  unary(
    createRelationship,
    async ({ fromId, toId, relationshipType, description, startTime, stopTime, refs }, platform) => {
      await checkRelationTypes(platform, [relationshipType], "relationship_type");
      const [from] = (await objectsOf(platform, [fromId], "from_id", true)) as [RefNode];
      const [to] = (await objectsOf(platform, [toId], "to_id", true)) as [RefNode];
      const input = await inputOf(platform, refs);
      await checkNone(platform, from, to, relationshipType, startTime);
      const { stixCoreRelationshipAdd } = await platform.graphql(CREATE_RELATIONSHIP, {
        input: {
          ...input,
          fromId: from.id,
          toId: to.id,
          relationship_type: relationshipType,
          ...(description !== "" && { description }),
          ...(startTime !== undefined && { start_time: timestampDate(startTime).toISOString() }),
          ...(stopTime !== undefined && { stop_time: timestampDate(stopTime).toISOString() }),
        },
      });
      const made = madeOf(stixCoreRelationshipAdd);
      const notices =
        refs?.confidence !== undefined && made.confidence !== refs.confidence
          ? [
              `the confidence is ${made.confidence ?? "not set"}, not ${refs.confidence}: the platform cuts it to your maximum`,
            ]
          : [];
      return { relationship: { ...relationshipOf(made), from: refOf(from), to: refOf(to) }, notices };
    },
  ),
];

/** Narrows to other ends of some types; the platform's own argument for it would match the object itself too. */
function othersOf(id: string, types: readonly string[]): FilterGroup | undefined {
  if (types.length === 0) return undefined;
  const outwards = all({ key: ["fromId"], values: [id] }, { key: ["toTypes"], values: types });
  const inwards = all({ key: ["toId"], values: [id] }, { key: ["fromTypes"], values: types });
  return { mode: "or", filters: [], filterGroups: [outwards, inwards] };
}

const WINDOW_MS = 30 * 86_400_000;

/** @throws ConnectError already_exists: within 30 days of the same start the platform would overwrite that relationship. */
async function checkNone(
  platform: Platform,
  from: RefNode,
  to: RefNode,
  type: string,
  start: Timestamp | undefined,
): Promise<void> {
  const { stixCoreRelationships } = await platform.graphql(SAME_RELATIONSHIPS, {
    from: [from.id],
    to: [to.id],
    types: [type],
  });
  const at = start === undefined ? undefined : timestampDate(start).getTime();
  const same = nodesOf(stixCoreRelationships).find(({ start_time }) => {
    if (at === undefined || start_time === null) return true;
    return Math.abs(Date.parse(start_time) - at) <= WINDOW_MS;
  });
  if (same === undefined) return;
  throw alreadyExists(
    `nothing was written: ${from.representative.main} ${type} ${to.representative.main} exists already for this time (id ${same.id})`,
  );
}
