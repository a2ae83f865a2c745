import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { alreadyExists } from "../../../../shared/rpc/errors.js";
import { type Binding, unary as steps } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { someOf } from "../filters.js";
import { END, numberOf, type RefNode, refOf, timeOf } from "../knowledge.js";
import { type Connection, nodesOf, PAGE, placeOf } from "../paging.js";
import { all, checkRelationTypes, checkTypes, type FilterGroup, objectOf, objectsOf } from "../resolve.js";
import { inputOf } from "../writes.js";

const { getEntityRelationships, createRelationship } = RelationshipService.method;

const REL = `fragment Rel on StixCoreRelationship { id relationship_type description confidence start_time stop_time from { ${END} } to { ${END} } }`;
export const LIST_RELATIONSHIPS = `query ListRelationships($id: [String], $types: [String], $filters: FilterGroup, $first: Int, $after: ID) { stixCoreRelationships(fromOrToId: $id, relationship_type: $types, filters: $filters, first: $first, after: $after, orderBy: created_at, orderMode: desc) { edges { node { ...Rel } } ${PAGE} } } ${REL}`;
export const SAME_RELATIONSHIPS = `query SameRelationships($from: [String], $to: [String], $types: [String]) { stixCoreRelationships(fromId: $from, toId: $to, relationship_type: $types, first: 100) { edges { node { id start_time stop_time } } } }`;
export const CREATE_RELATIONSHIP = `mutation CreateRelationship($input: StixCoreRelationshipAddInput) { stixCoreRelationshipAdd(input: $input) { ...Rel } } ${REL}`;

interface RelNode {
  readonly id: string;
  readonly relationship_type: string;
  readonly description: string | null;
  readonly confidence: number | null;
  readonly start_time: string | null;
  readonly stop_time: string | null;
  /** Null, or without an id, where the caller may not see it. */
  readonly from: Partial<RefNode> | null;
  readonly to: Partial<RefNode> | null;
}

const isVisible = (end: Partial<RefNode> | null): end is RefNode => end?.id !== undefined;

const relationshipOf = (node: RelNode, from: RefNode, to: RefNode) => ({
  id: node.id,
  type: node.relationship_type,
  from: refOf(from),
  to: refOf(to),
  description: node.description ?? "",
  ...numberOf("confidence", node.confidence),
  ...timeOf("startTime", node.start_time),
  ...timeOf("stopTime", node.stop_time),
});

export const bindings: readonly Binding[] = [
  steps(getEntityRelationships, async (request, platform) => {
    await checkTypes(platform, request.otherTypes, ["Stix-Domain-Object", "Stix-Cyber-Observable"], "other_types");
    await checkRelationTypes(platform, request.relationshipTypes, "relationship_types");
    const object = await objectOf(platform, request.id);
    const variables = {
      id: [object.id],
      types: someOf(request.relationshipTypes),
      filters: othersOf(object.id, request.otherTypes),
    };
    const place = placeOf(request, ["relationships", variables]);
    const { stixCoreRelationships: page } = await platform.graphql<{ stixCoreRelationships: Connection<RelNode> }>(
      LIST_RELATIONSHIPS,
      {
        ...variables,
        first: place.first,
        after: place.after,
      },
    );
    const nodes = nodesOf(page);
    // The platform lists a relationship although an end is hidden, with that end's id: such rows are counted, not told.
    const relationships = nodes.flatMap((node) =>
      isVisible(node.from) && isVisible(node.to) ? [relationshipOf(node, node.from, node.to)] : [],
    );
    return {
      object: refOf(object),
      relationships,
      hidden: nodes.length - relationships.length,
      nextPageToken: place.next(page),
      totalSize: page.pageInfo.globalCount,
    };
  }),
  steps(
    createRelationship,
    async ({ fromId, toId, relationshipType, description, startTime, stopTime, refs }, platform) => {
      await checkRelationTypes(platform, [relationshipType], "relationship_type");
      const [from] = (await objectsOf(platform, [fromId], "from_id", true)) as [RefNode];
      const [to] = (await objectsOf(platform, [toId], "to_id", true)) as [RefNode];
      const input = await inputOf(platform, refs);
      await checkNone(platform, from, to, relationshipType, startTime);
      const { stixCoreRelationshipAdd: made } = await platform.graphql<{ stixCoreRelationshipAdd: RelNode }>(
        CREATE_RELATIONSHIP,
        {
          input: {
            ...input,
            fromId: from.id,
            toId: to.id,
            relationship_type: relationshipType,
            ...(description !== "" && { description }),
            ...(startTime !== undefined && { start_time: timestampDate(startTime).toISOString() }),
            ...(stopTime !== undefined && { stop_time: timestampDate(stopTime).toISOString() }),
          },
        },
      );
      const notices =
        refs?.confidence !== undefined && made.confidence !== refs.confidence
          ? [
              `the confidence is ${made.confidence ?? "not set"}, not ${refs.confidence}: the platform cuts it to your maximum`,
            ]
          : [];
      return { relationship: relationshipOf(made, from, to), notices };
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
  type Same = Pick<RelNode, "id" | "start_time" | "stop_time">;
  const { stixCoreRelationships } = await platform.graphql<{ stixCoreRelationships: Connection<Same> }>(
    SAME_RELATIONSHIPS,
    {
      from: [from.id],
      to: [to.id],
      types: [type],
    },
  );
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
