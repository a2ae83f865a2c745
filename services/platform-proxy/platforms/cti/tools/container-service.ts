import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { aborted } from "../../../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../../../shared/rpc/write-outcome.js";
import { type Binding, unary } from "../../../binding.js";
import { unseen } from "../../../lib/outcome.js";
import { contentsPage, heldOf, targetOf } from "../contents.js";
import { someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { refOf } from "../knowledge.js";
import { reportBindings } from "../reports.js";
import { knownOf, objectsOf } from "../resolve.js";
import { searchPage, selectionOf } from "../search.js";
import { checkTypes } from "../types.js";
import { referencesOf } from "../writes.js";

const { listContainerObjects, addObjectsToContainer, removeObjectFromContainer } = ContainerService.method;

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
    const target = await targetOf(platform, request.containerId);
    const contents = { id: target.id, types: someOf(request.types) };
    const asked = { ...request, order: Order.UNSPECIFIED };
    const { nodes, paging } = await searchPage(
      asked,
      ["contents", contents],
      selectionOf(request.query, undefined),
      (page) => contentsPage(platform, { ...contents, ...page }),
    );
    return { container: refOf(target), objects: [...nodes], ...paging };
  }),
  unary(addObjectsToContainer, async ({ containerId, objectIds, commitMessage, externalReferenceIds }, platform) => {
    const container = await targetOf(platform, containerId);
    const objects = new Map((await objectsOf(platform, objectIds, "object_ids", true)).map((one) => [one.id, one]));
    const ids = [...objects.keys()];
    const references = await referencesOf(platform, externalReferenceIds, "external_reference_ids");
    const before = await heldOf(platform, container.id, ids);
    const wanted = ids.filter((id) => !before.held.has(id));
    if (wanted.length > 0) {
      await platform.graphql(ADD_OBJECTS, {
        id: container.id,
        input: { relationship_type: "object", toIds: wanted },
        ...(commitMessage !== "" && { commitMessage }),
        references: someOf(references),
      });
    }
    const after = wanted.length === 0 ? before : await heldOf(platform, container.id, ids);
    const lost = wanted.filter((id) => !after.held.has(id));
    if (lost.length > 0)
      throw withOutcomeSaid(
        aborted(
          lost.length < wanted.length
            ? `OpenCTI did not add ${lost.join(", ")} but added the others; read the container and try again`
            : `OpenCTI did not add ${lost.join(", ")}; read the container and try again`,
        ),
        lost.length < wanted.length ? Outcome.PARTLY : Outcome.UNKNOWN,
      );
    const refs = (held: boolean) => [...objects.values()].filter(({ id }) => before.held.has(id) === held).map(refOf);
    return { container: refOf(container), added: refs(false), alreadyHeld: refs(true), ...after.count };
  }),
  unary(removeObjectFromContainer, async ({ containerId, objectId }, platform) => {
    const container = await targetOf(platform, containerId);
    const object = await knownOf(platform, objectId, "object_id", true);
    const before = await heldOf(platform, container.id, [object.id]);
    if (!before.held.has(object.id)) return { container: refOf(container), removed: false, ...before.count };
    await platform.graphql(REMOVE_OBJECT, { id: container.id, toId: object.id });
    const after = await heldOf(platform, container.id, [object.id]);
    if (after.held.has(object.id))
      throw unseen("OpenCTI accepted the change, but the container still holds the object; try again in a few seconds");
    return { container: refOf(container), removed: true, ...after.count };
  }),
];
