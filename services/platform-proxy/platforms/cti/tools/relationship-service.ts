import type { Timestamp } from "@bufbuild/protobuf/wkt";
import {
  type DeleteRelationshipRequest,
  Direction,
  RelationshipService,
} from "#proto/cti/v1/relationship_service_pb.js";
import { dateOf } from "../../../../shared/dates.js";
import { alreadyExists, failedPrecondition, notFound } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { type Binding, unary } from "../../../binding.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import type { Platform } from "../../../platform.js";
import { othersOf } from "../around.js";
import { stillThere } from "../deletion.js";
import { checkPeriod, checkReadable, confidenceNotice, editsOf, type Field, isoOf, noticesOfChange } from "../edits.js";
import { bound, filtersOf, someOf } from "../filters.js";
import { authorOf, isVisible, labelsOf, markingsOf, NEVER, type RefNode, refOf, timeOf } from "../knowledge.js";
import { nodesOf, placeOf } from "../paging.js";
import {
  CREATE_RELATIONSHIP,
  DELETE_RELATIONSHIP,
  LIST_RELATIONSHIPS,
  SAME_RELATIONSHIPS,
  SELECT_RELATIONSHIPS,
  UPDATE_RELATIONSHIP,
} from "../relationship-documents.js";
import {
  askedEndsOf,
  GET_RELATIONSHIP,
  type RelationshipNode,
  relationshipById,
  relationshipOf,
  relationshipRowOf,
  toldOfRelationship,
  wholeRelationshipOf,
} from "../relationships.js";
import { askedEnds, type Filter, knownOf, objectOf } from "../resolve.js";
import { textOf } from "../text.js";
import { checkRelationTypes, checkTypes } from "../types.js";
import { inputOf, madeOf, referencesOf } from "../writes.js";

const {
  getRelationship,
  listRelationships,
  listEntityRelationships,
  createRelationship,
  updateRelationship,
  deleteRelationship,
} = RelationshipService.method;

/** A row of an object's relationships; none where the other end is hidden, which the platform lists with its id. */
function rowsOf(node: RelationshipNode, id: string) {
  const { from, to } = node;
  if (!isVisible(from) || !isVisible(to)) return [];
  const outgoing = from.id === id || to.id !== id;
  const direction = outgoing ? Direction.OUTGOING : Direction.INCOMING;
  return [
    { ...relationshipOf(node), description: shorten(node.description), direction, other: refOf(outgoing ? to : from) },
  ];
}

/** That a relationship has a start. */
const BEGINS: Filter = { key: ["start_time"], values: [NEVER], operator: "not_eq" };

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(getRelationship, async ({ relationshipId }, platform) => {
    const node = await relationshipById(platform, relationshipId);
    return {
      relationship: wholeRelationshipOf(node),
      ...authorOf(node),
      markings: markingsOf(node),
      labels: labelsOf(node),
      ...timeOf("createdAt", node.created_at),
      ...timeOf("updatedAt", node.updated_at),
      standardId: node.standard_id,
    };
  }),
  unary(listRelationships, async (request, platform) => {
    const { relationshipTypes, fromTypes, toTypes, startedAfter, startedBefore } = request;
    await checkRelationTypes(platform, relationshipTypes, "relationship_types");
    await checkTypes(platform, fromTypes, ["Stix-Domain-Object", "Stix-Cyber-Observable"], "from_types");
    await checkTypes(platform, toTypes, ["Stix-Domain-Object", "Stix-Cyber-Observable"], "to_types");
    const ends = await askedEnds(platform, request);
    const own = [
      ...(startedAfter === undefined ? [] : [bound("start_time", "gte", dateOf(startedAfter))]),
      ...(startedBefore === undefined ? [] : [bound("start_time", "lte", dateOf(startedBefore))]),
      ...(startedAfter === undefined && startedBefore === undefined ? [] : [BEGINS]),
    ];
    const variables = {
      from: ends.from && [ends.from.id],
      to: ends.to && [ends.to.id],
      types: someOf(relationshipTypes),
      fromTypes: someOf(fromTypes),
      toTypes: someOf(toTypes),
      filters: await filtersOf(platform, request.filter, ...own),
    };
    const place = placeOf(request, ["select-relationships", variables]);
    const { stixCoreRelationships: page } = await platform.graphql(SELECT_RELATIONSHIPS, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    const relationships = nodesOf(page).map((node) => relationshipRowOf(node, ends));
    return { relationships, ...askedEndsOf(ends), ...place.next(page) };
  }),
  unary(listEntityRelationships, async (request, platform) => {
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
      checkReadable({ start_time: isoOf(startTime), stop_time: isoOf(stopTime) });
      await checkRelationTypes(platform, [relationshipType], "relationship_type");
      const from = await knownOf(platform, fromId, "from_id", true);
      const to = await knownOf(platform, toId, "to_id", true);
      const input = await inputOf(platform, refs);
      const fields = {
        ...input,
        fromId: from.id,
        toId: to.id,
        relationship_type: relationshipType,
        ...textOf("description", description),
        ...(startTime !== undefined && { start_time: dateOf(startTime).toISOString() }),
        ...(stopTime !== undefined && { stop_time: dateOf(stopTime).toISOString() }),
      };
      const ends = [`${from.id} ${to.id}`];
      const { stixCoreRelationshipAdd } = await takingTurns(platform, relationshipType, ends, async () => {
        await checkNone(platform, from, to, relationshipType, startTime);
        return platform.graphql(CREATE_RELATIONSHIP, { input: fields });
      });
      const made = madeOf(stixCoreRelationshipAdd);
      const notices =
        refs?.confidence !== undefined && made.confidence !== refs.confidence
          ? [confidenceNotice(made.confidence, refs.confidence)]
          : [];
      return { relationship: { ...relationshipOf(made), from: refOf(from), to: refOf(to) }, notices };
    },
  ),
  unary(updateRelationship, async (request, platform) => {
    const before = await relationshipById(platform, request.relationshipId);
    const fields: readonly Field[] = [
      ["description", "description", request.description],
      ["confidence", "confidence", request.confidence],
      ["start_time", "start_time", isoOf(request.startTime)],
      ["stop_time", "stop_time", isoOf(request.stopTime)],
    ];
    const input = editsOf(fields);
    checkPeriod(
      isoOf(request.startTime) ?? before.start_time ?? undefined,
      isoOf(request.stopTime) ?? before.stop_time ?? undefined,
      ["start_time", "stop_time"],
    );
    const references = await referencesOf(platform, request.externalReferenceIds, "external_reference_ids");
    await platform.graphql(UPDATE_RELATIONSHIP, { id: before.id, input, references: someOf(references) });
    const after = await relationshipById(platform, before.id);
    const notices = noticesOfChange(fields, toldOfRelationship(before), toldOfRelationship(after));
    return { relationship: wholeRelationshipOf(after), notices };
  }),
  unary(deleteRelationship, async (request, platform) => {
    const target = await relationshipById(platform, request.relationshipId ?? (await onlyOneOf(platform, request)));
    await platform.graphql(DELETE_RELATIONSHIP, { id: target.id });
    const { stixCoreRelationship } = await platform.graphql(GET_RELATIONSHIP, { id: target.id });
    if (stixCoreRelationship !== null) throw stillThere();
    return { deleted: wholeRelationshipOf(target) };
  }),
];

/**
 * The relationship of a type between two ends; the platform's own way by ends
 * deletes several, and says the same where there was none.
 *
 * @throws ConnectError not_found where there is none, and failed_precondition where there are several.
 */
async function onlyOneOf(
  platform: Platform,
  { fromId = "", toId = "", relationshipType: type = "" }: DeleteRelationshipRequest,
): Promise<string> {
  await checkRelationTypes(platform, [type], "relationship_type");
  const from = await objectOf(platform, fromId, "from_id");
  const to = await objectOf(platform, toId, "to_id");
  const { stixCoreRelationships } = await platform.graphql(SAME_RELATIONSHIPS, {
    from: [from.id],
    to: [to.id],
    types: [type],
  });
  const [only, ...others] = nodesOf(stixCoreRelationships);
  const said = `${from.representative.main} ${type} ${to.representative.main}`;
  if (only === undefined) throw notFound(`nothing was deleted: no relationship "${said}" exists or is visible to you`);
  if (others.length === 0) return only.id;
  const ids = [only, ...others].map(({ id }) => id).join(", ");
  throw failedPrecondition(
    `nothing was deleted: several relationships "${said}" exist; give one of these ids as relationship_id: ${ids}`,
  );
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
  const at = start === undefined ? undefined : dateOf(start).getTime();
  const same = nodesOf(stixCoreRelationships).find(({ start_time }) => {
    if (at === undefined || start_time === null) return true;
    return Math.abs(Date.parse(start_time) - at) <= WINDOW_MS;
  });
  if (same === undefined) return;
  throw alreadyExists(
    `nothing was written: ${from.representative.main} ${type} ${to.representative.main} already exists for this time (id ${same.id}); change it with update_relationship`,
  );
}
