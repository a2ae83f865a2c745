import type { NewObjectRefs } from "#proto/cti/v1/knowledge_pb.js";
import { SightingService } from "#proto/cti/v1/sighting_service_pb.js";
import { dateOf } from "../../../../shared/dates.js";
import { type Binding, unary } from "../../../binding.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import { stillThere } from "../deletion.js";
import { checkPeriod, checkReadable, confidenceNotice, editsOf, type Field, isoOf, noticesOfChange } from "../edits.js";
import { bound, filtersOf, someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { authorOf, FOREVER, labelsOf, timeOf } from "../knowledge.js";
import { nodesOf, PAGE, placeOf } from "../paging.js";
import { askedEndsOf } from "../relationships.js";
import { askedEnds, type Filter, knownOf } from "../resolve.js";
import {
  checkNotSeen,
  GET_SIGHTING,
  SIGHTING,
  type SightingNode,
  sightingById,
  sightingOf,
  sightingRowOf,
  toldOfSighting,
} from "../sightings.js";
import { textOf } from "../text.js";
import { inputOf, madeOf, referencesOf } from "../writes.js";

const { listSightings, getSighting, createSighting, updateSighting, deleteSighting } = SightingService.method;

/** Sightings by their ends, newest first. */
export const LIST_SIGHTINGS = operation(
  `
  query ListSightings($from: StixRef, $to: StixRef, $filters: FilterGroup, $first: Int, $after: ID) {
    stixSightingRelationships(
      fromId: $from
      toId: $to
      filters: $filters
      first: $first
      after: $after
      orderBy: created_at
      orderMode: desc
    ) {
      edges {
        node {
          ...Sight
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [SIGHTING, PAGE],
);

/** Records a sighting. */
export const CREATE_SIGHTING = operation(
  `
  mutation CreateSighting($input: StixSightingRelationshipAddInput!) {
    stixSightingRelationshipAdd(input: $input) {
      ...Sight
    }
  }
`,
  [SIGHTING],
);

/** Changes fields of a sighting. */
export const UPDATE_SIGHTING = operation(`
  mutation UpdateSighting($id: ID!, $input: [EditInput]!, $references: [String]) {
    stixSightingRelationshipEdit(id: $id) {
      fieldPatch(input: $input, references: $references) {
        id
      }
    }
  }
`);

/** Deletes a sighting. */
export const DELETE_SIGHTING = operation(`
  mutation DeleteSighting($id: ID!) {
    stixSightingRelationshipEdit(id: $id) {
      delete
    }
  }
`);

/** That the time of a last sight is known. */
const ENDS: Filter = { key: ["last_seen"], values: [FOREVER], operator: "not_eq" };

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listSightings, async (request, platform) => {
    const ends = await askedEnds(platform, request);
    const { seenAfter } = request;
    const own = seenAfter === undefined ? [] : [bound("last_seen", "gte", dateOf(seenAfter)), ENDS];
    const variables = {
      from: ends.from?.id,
      to: ends.to?.id,
      filters: await filtersOf(platform, undefined, ...own),
    };
    const place = placeOf(request, ["sightings", variables]);
    const { stixSightingRelationships: page } = await platform.graphql(LIST_SIGHTINGS, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    const sightings = nodesOf(page).map((node) => sightingRowOf(node, ends));
    return { sightings, ...askedEndsOf(ends), ...place.next(page) };
  }),
  unary(getSighting, async ({ sightingId }, platform) => {
    const node = await sightingById(platform, sightingId);
    return {
      sighting: sightingOf(node),
      ...authorOf(node),
      labels: labelsOf(node),
      ...timeOf("createdAt", node.created_at),
      ...timeOf("updatedAt", node.updated_at),
      standardId: node.standard_id,
    };
  }),
  unary(createSighting, async (request, platform) => {
    const { description, refs, count = 1 } = request;
    checkReadable({ first_seen: isoOf(request.firstSeen), last_seen: isoOf(request.lastSeen) });
    const from = await knownOf(platform, request.fromId, "from_id");
    const to = await knownOf(platform, request.toId, "to_id");
    const input = await inputOf(platform, refs);
    const now = new Date().toISOString();
    // Without times the platform would take it for any sighting of the two.
    const first = isoOf(request.firstSeen) ?? isoOf(request.lastSeen) ?? now;
    const last = isoOf(request.lastSeen) ?? first;
    const fields = {
      ...input,
      fromId: from.id,
      toId: to.id,
      attribute_count: count,
      first_seen: first,
      last_seen: last,
      x_opencti_negative: request.negative,
      ...textOf("description", description),
    };
    const ends = [`${from.id} ${to.id}`];
    const { stixSightingRelationshipAdd } = await takingTurns(platform, "sighting", ends, async () => {
      await checkNotSeen(platform, { from: from.id, to: to.id }, { first, last });
      return platform.graphql(CREATE_SIGHTING, { input: fields });
    });
    const made = madeOf(stixSightingRelationshipAdd);
    return { sighting: sightingOf(made), notices: differencesOf(refs, count, made) };
  }),
  unary(updateSighting, async (request, platform) => {
    const before = await sightingById(platform, request.sightingId);
    const fields: readonly Field[] = [
      ["count", "attribute_count", request.count],
      ["first_seen", "first_seen", isoOf(request.firstSeen)],
      ["last_seen", "last_seen", isoOf(request.lastSeen)],
      ["negative", "x_opencti_negative", request.negative],
      ["description", "description", request.description],
      ["confidence", "confidence", request.confidence],
    ];
    const input = editsOf(fields);
    checkPeriod(
      isoOf(request.firstSeen) ?? before.first_seen ?? undefined,
      isoOf(request.lastSeen) ?? before.last_seen ?? undefined,
      ["first_seen", "last_seen"],
    );
    const references = await referencesOf(platform, request.externalReferenceIds, "external_reference_ids");
    await platform.graphql(UPDATE_SIGHTING, { id: before.id, input, references: someOf(references) });
    const after = await sightingById(platform, before.id);
    return {
      sighting: sightingOf(after),
      notices: noticesOfChange(fields, toldOfSighting(before), toldOfSighting(after)),
    };
  }),
  unary(deleteSighting, async ({ sightingId }, platform) => {
    const target = await sightingById(platform, sightingId);
    await platform.graphql(DELETE_SIGHTING, { id: target.id });
    const { stixSightingRelationship } = await platform.graphql(GET_SIGHTING, { id: target.id });
    if (stixSightingRelationship !== null) throw stillThere();
    return { deleted: sightingOf(target) };
  }),
];

/** Where what was recorded differs from what was asked. */
function differencesOf(refs: NewObjectRefs | undefined, count: number, made: SightingNode): string[] {
  const notices: string[] = [];
  if (made.attribute_count !== count) notices.push(`the count is ${made.attribute_count}, not ${count}`);
  if (refs?.confidence !== undefined && made.confidence !== refs.confidence)
    notices.push(confidenceNotice(made.confidence, refs.confidence));
  return notices;
}
