import type { JsonObject } from "@bufbuild/protobuf";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { failedPrecondition, invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import type { Platform } from "../../../platform.js";
import { ALIASED, aliasesAfter, aliasesOf, namesIn } from "../aliases.js";
import { countOf } from "../contents.js";
import { deleteObject } from "../deletion.js";
import { confidenceNotices, editsOf, type Field } from "../edits.js";
import { aliasesKeyOf, CREATABLE_TYPES } from "../entity-types.js";
import { someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { kindPage, kindRowOf, textsOf } from "../kinds.js";
import { CORE, numberOf, summaryOf } from "../knowledge.js";
import { mergingBindings } from "../merging.js";
import { nodesOf } from "../paging.js";
import { absentOf, changeableOf, objectOf, type TargetNode } from "../resolve.js";
import { checkedName, textOf } from "../text.js";
import { checkNames, inputOf, madeOf, noticesOfNew, referencesOf, unkeptOf } from "../writes.js";

const { getEntity, getEntityStix, listThreatActors, createEntity, updateEntity, deleteEntity } = EntityService.method;

/** One object with its external references and how connected it is. */
export const GET_ENTITY = operation(
  `
  query GetEntity($id: String!) {
    stixCoreObject(id: $id) {
      ...Core
      ...Aliased
      ... on StixDomainObject {
        confidence
      }
      containers(first: 2000) {
        edges {
          cursor
        }
        pageInfo {
          hasNextPage
        }
      }
      externalReferences(first: 50) {
        edges {
          node {
            id
            source_name
            url
            external_id
          }
        }
      }
    }
  }
`,
  [CORE, ALIASED],
);

/** How many relationships an object has; what the platform calls its number of connections counts stored references. */
export const COUNT_RELATIONSHIPS = operation(`
  query CountRelationships($id: [String]) {
    stixCoreRelationshipsNumber(fromOrToId: $id) {
      count
    }
  }
`);

/** One object as STIX. */
export const GET_STIX = operation(`
  query GetStix($id: String!) {
    stix(id: $id)
  }
`);

/** Changes fields of an object. */
export const UPDATE = operation(`
  mutation Update($id: ID!, $input: [EditInput]!, $commitMessage: String, $references: [String]) {
    stixDomainObjectEdit(id: $id) {
      fieldPatch(input: $input, commitMessage: $commitMessage, references: $references) {
        id
      }
    }
  }
`);

const CREATE_MALWARE = operation(
  `
  mutation Create($input: MalwareAddInput!) {
    made: malwareAdd(input: $input) {
      ...Core
      confidence
    }
  }
`,
  [CORE],
);

/** What creates an entity, by its type: inputs and answers of all types are alike. */
export const CREATE: ReadonlyMap<string, typeof CREATE_MALWARE> = new Map(
  [...CREATABLE_TYPES].map(([type, { mutation, input }]) => {
    const text = CREATE_MALWARE.text.replace("malwareAdd", mutation).replace("MalwareAddInput", input);
    return [type, { ...CREATE_MALWARE, text }];
  }),
);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(getEntity, async ({ objectId }, platform) => {
    const { stixCoreObject: node } = await platform.graphql(GET_ENTITY, { id: objectId });
    if (node === null) throw await absentOf(platform, objectId, "object_id");
    const { stixCoreRelationshipsNumber } = await platform.graphql(COUNT_RELATIONSHIPS, { id: [node.id] });
    const { objectCount: containers, objectCountIsLowerBound: more } = countOf(node.containers);
    return {
      object: summaryOf(node),
      standardId: node.standard_id,
      externalReferences: nodesOf(node.externalReferences).map((one) => ({
        id: one.id,
        sourceName: one.source_name,
        url: one.url ?? "",
        externalId: one.external_id ?? "",
      })),
      connections: stixCoreRelationshipsNumber?.count ?? 0,
      containers,
      ...(more && { containersIsLowerBound: more }),
      aliases: aliasesOf(node),
      ...numberOf("confidence", node.confidence),
    };
  }),
  unary(getEntityStix, async ({ objectId }, platform) => {
    const { stix } = await platform.graphql(GET_STIX, { id: objectId });
    if (!stix) throw notFound(`object_id: no object with the id ${objectId} exists or is visible to you`);
    return { stix: JSON.parse(stix) as JsonObject };
  }),
  unary(listThreatActors, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, ["Threat-Actor"]);
    const threatActors = nodes.map((node) => ({
      ...kindRowOf(node),
      threatActorTypes: textsOf(node.threat_actor_types),
    }));
    return { threatActors, ...paging };
  }),
  unary(createEntity, async ({ type, name, description, aliases: given, refs }, platform) => {
    const aliases = namesIn(given);
    const creatable = CREATABLE_TYPES.get(type);
    const document = CREATE.get(type);
    if (creatable === undefined || document === undefined) {
      throw invalidArgument(
        `type: create_entity cannot create objects of type ${type}; use one of: ${[...CREATABLE_TYPES.keys()].sort().join(", ")}`,
      );
    }
    if (aliases.length > 0 && creatable.aliases === undefined)
      throw invalidArgument(`aliases: objects of type ${type} have no aliases`);
    const title = checkedName(name);
    const input = await inputOf(platform, refs);
    const names = [title, ...aliases];
    const fields = {
      ...input,
      name: title,
      ...textOf("description", description),
      ...(creatable.aliases !== undefined && aliases.length > 0 && { [creatable.aliases]: aliases }),
    };
    const answer = await takingTurns(platform, type, names, async () => {
      if (creatable.merges) await checkNames(platform, type, names);
      return platform.graphql(document, { input: fields });
    });
    const made = madeOf(answer.made);
    return { result: { object: summaryOf(made), notices: noticesOfNew({ refs, name: title }, made) } };
  }),
  unary(updateEntity, async (request, platform) => {
    const target = await changeableOf(platform, request.objectId);
    if (!target.parent_types.includes("Stix-Domain-Object"))
      throw failedPrecondition(
        `object_id: update_entity cannot change an observable, and this is a ${target.entity_type}; use update_observable`,
      );
    const references = await referencesOf(platform, request.externalReferenceIds, "external_reference_ids");
    const names = namesIn([...(request.name === undefined ? [] : [request.name]), ...request.addAliases]);
    // The other names are read and written whole, so that of two changes at once one would undo the other.
    await takingTurns(platform, target.entity_type, [target.id, ...names], async () => {
      const input = editsOf(await fieldsOf(platform, request, target));
      // Of reports, cases and notes several may bear one name.
      if (names.length > 0 && CREATABLE_TYPES.get(target.entity_type)?.merges) {
        await checkNames(platform, target.entity_type, names, target.id);
      }
      await platform.graphql(UPDATE, {
        id: target.id,
        input,
        ...(request.commitMessage !== "" && { commitMessage: request.commitMessage }),
        references: someOf(references),
      });
    });
    const written = await objectOf(platform, target.id);
    const notices = [
      ...confidenceNotices(sureOf(request), target, written),
      ...unkeptOf(request.commitMessage, request.externalReferenceIds),
    ];
    return { result: { object: summaryOf(written), notices } };
  }),
  unary(deleteEntity, async ({ objectId }, platform) => {
    return { deleted: await deleteObject(platform, await changeableOf(platform, objectId)) };
  }),
  ...mergingBindings,
];

interface Changes {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly confidence?: number | undefined;
  readonly addAliases: readonly string[];
  readonly removeAliases: readonly string[];
}

const sureOf = ({ confidence }: Changes): Field => ["confidence", "confidence", confidence];

async function fieldsOf(platform: Platform, changes: Changes, target: TargetNode): Promise<Field[]> {
  const { id, entity_type: type } = target;
  const { name, description, addAliases, removeAliases } = changes;
  const key = aliasesKeyOf(type);
  const renames = addAliases.length + removeAliases.length > 0;
  if (key === undefined && renames) throw invalidArgument(`add_aliases: objects of type ${type} have no aliases`);
  const aliases = renames ? await aliasesAfter(platform, id, addAliases, removeAliases) : undefined;
  return [
    ["name", "name", name === undefined ? undefined : checkedName(name)],
    ["description", "description", description],
    sureOf(changes),
    ...(key === undefined ? [] : [["aliases", key, aliases] as const]),
  ];
}
