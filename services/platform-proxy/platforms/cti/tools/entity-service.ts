import type { JsonObject } from "@bufbuild/protobuf";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { aborted, failedPrecondition, invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary as steps } from "../../../binding.js";
import { aliasesKeyOf, CREATABLE_TYPES, type CreatableType } from "../entity-types.js";
import { filtersOf, orderOf, someOf } from "../filters.js";
import { CORE, type CoreNode, refOf, summaryOf } from "../knowledge.js";
import { type Connection, nodesOf, PAGE, placeOf } from "../paging.js";
import { OBJECT, objectOf, type TargetNode } from "../resolve.js";
import { searchTextOf } from "../text.js";
import { checkNames, checkReferences, inputOf, noticesOf } from "../writes.js";

const { getEntity, getEntityStix, listThreatActors, createEntity, updateEntity, deleteEntity } = EntityService.method;

export const GET_ENTITY = `query GetEntity($id: String!) { stixCoreObject(id: $id) { ...Core numberOfConnectedElement containersNumber { total } externalReferences(first: 50) { edges { node { id source_name url external_id } } } } } ${CORE}`;
export const GET_STIX = `query GetStix($id: String!) { stix(id: $id) }`;
export const LIST_THREAT_ACTORS = `query ListThreatActors($search: String, $first: Int, $after: ID, $filters: FilterGroup, $orderBy: StixDomainObjectsOrdering, $orderMode: OrderingMode) { stixDomainObjects(types: ["Threat-Actor"], search: $search, first: $first, after: $after, filters: $filters, orderBy: $orderBy, orderMode: $orderMode) { edges { node { ...Core ... on ThreatActor { aliases threat_actor_types } } } ${PAGE} } } ${CORE}`;
export const UPDATE = `mutation Update($id: ID!, $input: [EditInput]!, $commitMessage: String, $references: [String]) { stixDomainObjectEdit(id: $id) { fieldPatch(input: $input, commitMessage: $commitMessage, references: $references) { id } } }`;
export const DELETE = `mutation Delete($id: ID!) { stixCoreObjectEdit(id: $id) { delete } }`;

/** The document that creates an entity of a type. */
export const createDocumentOf = ({ mutation, input }: CreatableType): string =>
  `mutation Create($input: ${input}) { ${mutation}(input: $input) { ...Core confidence } } ${CORE}`;

interface EntityNode extends CoreNode {
  readonly numberOfConnectedElement: number;
  readonly containersNumber: { readonly total: number } | null;
  readonly externalReferences: Connection<{
    id: string;
    source_name: string;
    url: string | null;
    external_id: string | null;
  }> | null;
}

type ActorNode = CoreNode & {
  readonly aliases?: readonly string[] | null;
  readonly threat_actor_types?: readonly string[] | null;
};

export const bindings: readonly Binding[] = [
  steps(getEntity, async ({ id }, platform) => {
    const { stixCoreObject: node } = await platform.graphql<{ stixCoreObject: EntityNode | null }>(GET_ENTITY, { id });
    if (node === null) throw notFound(`id: no object with the id ${id} exists or is visible to you`);
    return {
      object: summaryOf(node, true),
      standardId: node.standard_id,
      externalReferences: nodesOf(node.externalReferences).map((one) => ({
        id: one.id,
        sourceName: one.source_name,
        url: one.url ?? "",
        externalId: one.external_id ?? "",
      })),
      connections: node.numberOfConnectedElement,
      containers: node.containersNumber?.total ?? 0,
    };
  }),
  steps(getEntityStix, async ({ id }, platform) => {
    const { stix } = await platform.graphql<{ stix: string | null }>(GET_STIX, { id });
    if (!stix) throw notFound(`id: no object with the id ${id} exists or is visible to you`);
    return { stix: JSON.parse(stix) as JsonObject };
  }),
  steps(listThreatActors, async (request, platform) => {
    const variables = {
      search: searchTextOf(request.query),
      filters: await filtersOf(platform, request.filter),
      ...orderOf(request.order),
    };
    const place = placeOf(request, ["threat-actors", variables]);
    const { stixDomainObjects: page } = await platform.graphql<{ stixDomainObjects: Connection<ActorNode> }>(
      LIST_THREAT_ACTORS,
      {
        ...variables,
        first: place.first,
        after: place.after,
      },
    );
    return {
      threatActors: nodesOf(page).map((node) => ({
        object: summaryOf(node),
        aliases: [...(node.aliases ?? [])],
        threatActorTypes: [...(node.threat_actor_types ?? [])],
      })),
      nextPageToken: place.next(page),
      totalSize: page.pageInfo.globalCount,
    };
  }),
  steps(createEntity, async ({ type, name, description, aliases, refs }, platform) => {
    const creatable = CREATABLE_TYPES.get(type);
    if (creatable === undefined) {
      throw invalidArgument(
        `type: ${type} cannot be created here; can be: ${[...CREATABLE_TYPES.keys()].sort().join(", ")}`,
      );
    }
    if (aliases.length > 0 && creatable.aliases === undefined) throw invalidArgument(`aliases: a ${type} has none`);
    const title = name.trim();
    if (title.length < 2) throw invalidArgument("name: must hold two characters that are not blank");
    const input = await inputOf(platform, refs);
    if (creatable.merges) await checkNames(platform, type, [title, ...aliases]);
    const data = await platform.graphql<Record<string, TargetNode>>(createDocumentOf(creatable), {
      input: {
        ...input,
        name: title,
        ...(description !== "" && { description }),
        ...(creatable.aliases !== undefined && aliases.length > 0 && { [creatable.aliases]: aliases }),
      },
    });
    const made = data[creatable.mutation] as TargetNode;
    return { result: { object: summaryOf(made), notices: noticesOf({ refs, name: title }, made) } };
  }),
  steps(updateEntity, async (request, platform) => {
    const target = await objectOf(platform, request.id);
    if (!target.parent_types.includes("Stix-Domain-Object")) {
      throw failedPrecondition(`id: a ${target.entity_type} is not changed by this tool`);
    }
    const input = editsOf(request, target.entity_type);
    if (input.length === 0) throw invalidArgument("give at least one field to change");
    await checkReferences(platform, request.externalReferenceIds, "external_reference_ids");
    const names = [...(request.name === undefined ? [] : [request.name]), ...request.addAliases];
    // Of reports, cases and notes several may bear one name.
    if (names.length > 0 && CREATABLE_TYPES.get(target.entity_type)?.merges) {
      await checkNames(platform, target.entity_type, names, target.id);
    }
    await platform.graphql(UPDATE, {
      id: target.id,
      input,
      commitMessage: request.commitMessage || undefined,
      references: someOf(request.externalReferenceIds),
    });
    const written = await objectOf(platform, target.id);
    const notices: string[] = [];
    if (request.confidence !== undefined && written.confidence !== request.confidence) {
      notices.push(
        `the confidence is ${written.confidence ?? "not set"}, not ${request.confidence}: the platform cuts it to your maximum`,
      );
    }
    if (request.commitMessage !== "" && request.externalReferenceIds.length === 0) {
      notices.push("the commit message was not kept: the platform keeps it only together with external references");
    }
    return { result: { object: summaryOf(written), notices } };
  }),
  steps(deleteEntity, async ({ id }, platform) => {
    const target = await objectOf(platform, id);
    await platform.graphql(DELETE, { id: target.id });
    const { stixCoreObject } = await platform.graphql<{ stixCoreObject: TargetNode | null }>(OBJECT, { id: target.id });
    if (stixCoreObject !== null)
      throw aborted("the platform accepted the deletion, but the object is still there; try again in a few seconds");
    return { deleted: refOf(target) };
  }),
];

interface Changes {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly confidence?: number | undefined;
  readonly addAliases: readonly string[];
  readonly removeAliases: readonly string[];
}

function editsOf({ name, description, confidence, addAliases, removeAliases }: Changes, type: string) {
  const key = aliasesKeyOf(type);
  if (key === undefined && addAliases.length + removeAliases.length > 0)
    throw invalidArgument(`add_aliases: a ${type} has none`);
  const aliases = (value: readonly string[], operation: string) =>
    value.length > 0 ? [{ key, value, operation }] : [];
  return [
    ...(name === undefined ? [] : [{ key: "name", value: [name.trim()] }]),
    ...(description === undefined ? [] : [{ key: "description", value: [description] }]),
    ...(confidence === undefined ? [] : [{ key: "confidence", value: [String(confidence)] }]),
    ...aliases(addAliases, "add"),
    ...aliases(removeAliases, "remove"),
  ];
}
