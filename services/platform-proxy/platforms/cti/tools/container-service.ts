import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { aborted, failedPrecondition, notFound, unavailable } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import type { VariablesOf } from "../../../document.js";
import type { Platform } from "../../../platform.js";
import { someOf } from "../filters.js";
import { fragment, type NodeOf, operation } from "../graphql.js";
import { END, type EndNode, REF, type RefNode, refOf } from "../knowledge.js";
import { nodesOf, PAGE, placeOf } from "../paging.js";
import { reportBindings } from "../reports.js";
import { all, objectOf, objectsOf, type TargetNode } from "../resolve.js";
import { searchTextOf } from "../text.js";
import { checkTypes } from "../types.js";
import { checkReferences } from "../writes.js";

const { listContainerObjects, addObjectsToContainer, removeObjectFromContainer } = ContainerService.method;

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
  query Contents($id: String, $types: [String], $first: Int, $after: ID, $search: String, $filters: FilterGroup) {
    container(id: $id) {
      objects(types: $types, first: $first, after: $after, search: $search, filters: $filters) {
        edges {
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

/** Puts objects into a container. */
export const ADD_OBJECTS = operation(`
  mutation AddObjects(
    $id: ID!
    $input: StixRefRelationshipsAddInput!
    $commitMessage: String
    $references: [String]
  ) {
    stixCoreObjectEdit(id: $id) {
      relationsAdd(input: $input, commitMessage: $commitMessage, references: $references) {
        id
      }
    }
  }
`);

/** Takes an object out of a container. */
export const REMOVE_OBJECT = operation(`
  mutation RemoveObject($id: ID!, $toId: StixRef!) {
    containerEdit(id: $id) {
      relationDelete(toId: $toId, relationship_type: "object") {
        id
      }
    }
  }
`);

/** What a container holds besides objects, as its list takes it for a type. */
const RELATIONSHIPS = ["stix-core-relationship", "stix-sighting-relationship"];

/** How the tools of containers are answered. */
export const bindings: readonly Binding[] = [
  ...reportBindings,
  unary(listContainerObjects, async (request, platform) => {
    await checkTypes(
      platform,
      request.types.filter((type) => !RELATIONSHIPS.includes(type)),
      ["Stix-Domain-Object", "Stix-Cyber-Observable"],
    );
    const target = await containerOf(platform, request.containerId);
    const variables = { id: target.id, types: someOf(request.types), search: searchTextOf(request.query) };
    const place = placeOf(request, ["contents", variables]);
    const objects = await contentsOf(platform, { ...variables, first: place.first, after: place.after });
    return { container: refOf(target), objects: nodesOf(objects).map(containedOf), ...place.next(objects) };
  }),
  unary(addObjectsToContainer, async ({ containerId, objectIds, commitMessage, externalReferenceIds }, platform) => {
    const container = await containerOf(platform, containerId);
    const objects = new Map((await objectsOf(platform, objectIds, "object_ids", true)).map((one) => [one.id, one]));
    const ids = [...objects.keys()];
    await checkReferences(platform, externalReferenceIds, "external_reference_ids");
    const before = await heldOf(platform, container.id, ids);
    const wanted = ids.filter((id) => !before.held.has(id));
    if (wanted.length > 0) {
      await platform.graphql(ADD_OBJECTS, {
        id: container.id,
        input: { relationship_type: "object", toIds: wanted },
        ...(commitMessage !== "" && { commitMessage }),
        references: someOf(externalReferenceIds),
      });
    }
    const after = wanted.length === 0 ? before : await heldOf(platform, container.id, ids);
    const lost = wanted.filter((id) => !after.held.has(id));
    if (lost.length > 0)
      throw aborted(
        `the platform did not add ${lost.join(", ")}; the others were added. Read the container and try again`,
      );
    const refs = (held: boolean) => [...objects.values()].filter(({ id }) => before.held.has(id) === held).map(refOf);
    return { container: refOf(container), added: refs(false), alreadyHeld: refs(true), objectCount: after.count };
  }),
  unary(removeObjectFromContainer, async ({ containerId, objectId }, platform) => {
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

async function contentsOf(platform: Platform, variables: VariablesOf<typeof CONTENTS>) {
  const { container } = await platform.graphql(CONTENTS, variables);
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
  return { held: new Set(nodesOf(found).map((node) => node.id)), count: whole?.pageInfo.globalCount ?? 0 };
}

function containedOf(node: NodeOf<typeof CONTAINED>) {
  const { id, entity_type: type, from, to, representative } = node;
  if (id === undefined || type === undefined) throw unavailable("the platform lists something without an id");
  if (representative !== undefined) return { id, type, name: representative.main };
  // Where an end is hidden the platform still gives its id; only what is visible is told.
  const name = (end: EndNode | null | undefined) => end?.representative?.main ?? "(not visible to you)";
  return { id, type, name: `${name(from)} ${type} ${name(to)}`, relationship: true };
}
