import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { aborted, failedPrecondition, notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary as steps } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { someOf } from "../filters.js";
import { END, type RefNode, refOf } from "../knowledge.js";
import { type Connection, nodesOf, PAGE, placeOf } from "../paging.js";
import { reportBindings } from "../reports.js";
import { all, checkTypes, objectOf, objectsOf, type TargetNode } from "../resolve.js";
import { searchTextOf } from "../text.js";
import { checkReferences } from "../writes.js";

const { listContainerObjects, addObjectsToContainer, removeObjectFromContainer } = ContainerService.method;

const ENDS = `from { ${END} } to { ${END} }`;
export const CONTENTS = `query Contents($id: String, $types: [String], $first: Int, $after: ID, $search: String, $filters: FilterGroup) { container(id: $id) { id entity_type representative { main } objects(types: $types, first: $first, after: $after, search: $search, filters: $filters) { edges { node { ... on StixCoreObject { id entity_type representative { main } } ... on StixCoreRelationship { id entity_type ${ENDS} } ... on StixSightingRelationship { id entity_type ${ENDS} } } } ${PAGE} } } }`;
export const ADD_OBJECTS = `mutation AddObjects($id: ID!, $input: StixRefRelationshipsAddInput!, $commitMessage: String, $references: [String]) { stixCoreObjectEdit(id: $id) { relationsAdd(input: $input, commitMessage: $commitMessage, references: $references) { id } } }`;
export const REMOVE_OBJECT = `mutation RemoveObject($id: ID!, $toId: StixRef!) { containerEdit(id: $id) { relationDelete(toId: $toId, relationship_type: "object") { id } } }`;

interface End {
  readonly id?: string;
  readonly representative?: { readonly main: string };
}

/** Of a relationship the ends are asked for too; they are null where hidden. */
type ContainedNode = RefNode & {
  readonly from?: End | null;
  readonly to?: End | null;
};

/** What a container holds besides objects, as its list takes it for a type. */
const RELATIONSHIPS = ["stix-core-relationship", "stix-sighting-relationship"];

export const bindings: readonly Binding[] = [
  ...reportBindings,
  steps(listContainerObjects, async (request, platform) => {
    await checkTypes(
      platform,
      request.types.filter((type) => !RELATIONSHIPS.includes(type)),
      ["Stix-Domain-Object", "Stix-Cyber-Observable"],
    );
    const target = await containerOf(platform, request.containerId);
    const variables = { id: target.id, types: someOf(request.types), search: searchTextOf(request.query) };
    const place = placeOf(request, ["contents", variables]);
    const objects = await contentsOf(platform, { ...variables, first: place.first, after: place.after });
    return {
      container: refOf(target),
      objects: nodesOf(objects).map(containedOf),
      nextPageToken: place.next(objects),
      totalSize: objects.pageInfo.globalCount,
    };
  }),
  steps(addObjectsToContainer, async ({ containerId, objectIds, commitMessage, externalReferenceIds }, platform) => {
    const container = await containerOf(platform, containerId);
    const ids = [...new Set((await objectsOf(platform, objectIds, "object_ids", true)).map(({ id }) => id))];
    await checkReferences(platform, externalReferenceIds, "external_reference_ids");
    const before = await heldOf(platform, container.id, ids);
    const wanted = ids.filter((id) => !before.held.has(id));
    if (wanted.length > 0) {
      await platform.graphql(ADD_OBJECTS, {
        id: container.id,
        input: { relationship_type: "object", toIds: wanted },
        commitMessage: commitMessage || undefined,
        references: someOf(externalReferenceIds),
      });
    }
    const after = wanted.length === 0 ? before : await heldOf(platform, container.id, ids);
    const lost = wanted.filter((id) => !after.held.has(id));
    if (lost.length > 0)
      throw aborted(
        `the platform did not add ${lost.join(", ")}; the others were added. Read the container and try again`,
      );
    return {
      container: refOf(container),
      addedIds: wanted,
      alreadyHeldIds: ids.filter((id) => before.held.has(id)),
      objectCount: after.count,
    };
  }),
  steps(removeObjectFromContainer, async ({ containerId, objectId }, platform) => {
    const container = await containerOf(platform, containerId);
    const [object] = (await objectsOf(platform, [objectId], "object_id", true)) as [RefNode];
    const before = await heldOf(platform, container.id, [object.id]);
    if (!before.held.has(object.id)) return { container: refOf(container), removed: false, objectCount: before.count };
    await platform.graphql(REMOVE_OBJECT, { id: container.id, toId: object.id });
    const after = await heldOf(platform, container.id, [object.id]);
    if (after.held.has(object.id))
      throw aborted(
        "the platform accepted the change, but the container holds the object still; try again in a few seconds",
      );
    return { container: refOf(container), removed: true, objectCount: after.count };
  }),
];

async function containerOf(platform: Platform, id: string): Promise<TargetNode> {
  const target = await objectOf(platform, id, "container_id");
  if (!target.parent_types.includes("Container"))
    throw failedPrecondition(`container_id: a ${target.entity_type} holds no objects`);
  return target;
}

async function contentsOf(platform: Platform, variables: Record<string, unknown>): Promise<Connection<ContainedNode>> {
  const { container } = await platform.graphql<{ container: { objects: Connection<ContainedNode> } | null }>(
    CONTENTS,
    variables,
  );
  if (container === null) throw notFound("container_id: the container is gone or no longer visible to you");
  return container.objects;
}

/** Which of these a container holds, and how many objects in all. */
async function heldOf(
  platform: Platform,
  id: string,
  ids: readonly string[],
): Promise<{ readonly held: ReadonlySet<string>; readonly count: number }> {
  const found = await contentsOf(platform, { id, first: ids.length, filters: all({ key: ["ids"], values: ids }) });
  const whole = await contentsOf(platform, { id, first: 1 });
  return { held: new Set(nodesOf(found).map((node) => node.id)), count: whole.pageInfo.globalCount };
}

function containedOf(node: ContainedNode) {
  if (node.from === undefined) return { object: refOf(node), relationship: false };
  // Where an end is hidden the platform still gives its id; only what is visible is told.
  const name = (end: End | null | undefined) => end?.representative?.main ?? "(not visible to you)";
  return {
    object: {
      id: node.id,
      type: node.entity_type,
      name: `${name(node.from)} ${node.entity_type} ${name(node.to)}`,
    },
    relationship: true,
  };
}
