import { ContainerRecordService } from "#proto/cti/v1/container_record_service_pb.js";
import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { failedPrecondition, invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { fieldsOf, toldOfContainer } from "../container-edits.js";
import {
  CONTAINER_TYPES,
  type ContainerNode,
  containerOf,
  containerRowOf,
  containersPage,
  GET_CONTAINER,
} from "../container-rows.js";
import { containersByName, isNameless } from "../containers-by-name.js";
import { membersOf, targetOf } from "../contents.js";
import { checkGone } from "../deletion.js";
import { editsOf, noticesOfChange } from "../edits.js";
import { someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { refOf } from "../knowledge.js";
import { knownOf, objectsOf } from "../resolve.js";
import { referencesOf, unkeptOf } from "../writes.js";

const {
  listContainers,
  getContainer,
  listEntityContainers,
  checkContainerMembership,
  updateContainer,
  deleteContainer,
} = ContainerRecordService.method;

/** Changes fields of a container. */
export const UPDATE_CONTAINER = operation(`
  mutation UpdateContainer($id: ID!, $input: [EditInput]!, $commitMessage: String, $references: [String]) {
    containerEdit(id: $id) {
      fieldPatch(input: $input, commitMessage: $commitMessage, references: $references) {
        id
      }
    }
  }
`);

/** Deletes a container. */
export const DELETE_CONTAINER = operation(`
  mutation DeleteContainer($id: ID!) {
    containerEdit(id: $id) {
      delete
    }
  }
`);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listContainers, async (request, platform) => {
    const types = checked(request.types).length === 0 ? CONTAINER_TYPES : request.types;
    const isMixed = request.order === Order.NAME && types.some(isNameless);
    const { nodes, paging } = isMixed
      ? await containersByName(platform, request, types, [])
      : await containersPage(platform, request, request.types);
    return { containers: nodes.map(containerRowOf), ...paging };
  }),
  unary(getContainer, async ({ containerId }, platform) => ({
    container: containerOf(await readWhole(platform, containerId)),
  })),
  unary(listEntityContainers, async (request, platform) => {
    const types = checked(request.types);
    const object = await knownOf(platform, request.objectId, "object_id", true);
    const asked = { ...request, order: Order.UNSPECIFIED };
    const holding = { key: ["objects"], values: [object.id] };
    const { nodes, paging } = await containersPage(platform, asked, types, [holding]);
    return { containers: nodes.map(containerRowOf), ...paging };
  }),
  unary(checkContainerMembership, async ({ containerId, objectIds }, platform) => {
    const container = await targetOf(platform, containerId);
    const objects = new Map((await objectsOf(platform, objectIds, "object_ids", true)).map((one) => [one.id, one]));
    const members = await membersOf(platform, container.id, [...objects.keys()]);
    const refs = (held: boolean) => [...objects.values()].filter(({ id }) => members.has(id) === held).map(refOf);
    return { container: refOf(container), held: refs(true), notHeld: refs(false) };
  }),
  unary(updateContainer, async (request, platform) => {
    const target = await targetOf(platform, request.containerId);
    if (target.entity_type === "Note")
      throw failedPrecondition("container_id: update_container cannot change a Note; use update_note with note_id");
    const fields = await fieldsOf(platform, target.entity_type, request);
    const input = editsOf(fields);
    const before = await readWhole(platform, target.id);
    const references = await referencesOf(platform, request.externalReferenceIds, "external_reference_ids");
    await platform.graphql(UPDATE_CONTAINER, {
      id: target.id,
      input,
      ...(request.commitMessage !== "" && { commitMessage: request.commitMessage }),
      references: someOf(references),
    });
    const written = await readWhole(platform, target.id);
    const notices = [
      ...noticesOfChange(fields, toldOfContainer(before), toldOfContainer(written)),
      ...unkeptOf(request.commitMessage, request.externalReferenceIds),
    ];
    return { container: containerOf(written), notices };
  }),
  unary(deleteContainer, async ({ containerId }, platform) => {
    const target = await targetOf(platform, containerId);
    await platform.graphql(DELETE_CONTAINER, { id: target.id });
    await checkGone(platform, target.id);
    return { deleted: refOf(target) };
  }),
];

/** @throws ConnectError not_found, for what does not exist, is hidden, or is no container. */
async function readWhole(platform: Platform, id: string): Promise<ContainerNode> {
  const { container } = await platform.graphql(GET_CONTAINER, { id });
  if (container === null) throw notFound(`container_id: no container with the id ${id} exists or is visible to you`);
  return container;
}

/** @throws ConnectError invalid_argument, for a type that is no container's. */
function checked(types: readonly string[]): readonly string[] {
  const wrong = types.find((type) => !CONTAINER_TYPES.includes(type));
  if (wrong === undefined) return types;
  throw invalidArgument(`types: ${wrong} is not one of ${CONTAINER_TYPES.join(", ")}`);
}
