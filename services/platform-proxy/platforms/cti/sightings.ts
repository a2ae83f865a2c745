import { alreadyExists, notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { type Told, toldOf } from "./edits.js";
import { fragment, type NodeOf, operation } from "./graphql.js";
import { END, markingsOf, numberOf, timeOf } from "./knowledge.js";
import { nodesOf } from "./paging.js";
import { type AskedEnds, endsOf, otherEndsOf } from "./relationships.js";

/** The fields that make a sighting. */
export const SIGHTING = fragment(
  `
  fragment Sight on StixSightingRelationship {
    id
    description
    confidence
    first_seen
    last_seen
    attribute_count
    x_opencti_negative
    objectMarking {
      definition
    }
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

/** What the fields of SIGHTING answer. */
export type SightingNode = NodeOf<typeof SIGHTING>;

/** One sighting. */
export const GET_SIGHTING = operation(
  `
  query GetSighting($id: String!) {
    stixSightingRelationship(id: $id) {
      ...Sight
      standard_id
      created_at
      updated_at
      createdBy {
        id
        entity_type
        name
      }
      objectLabel {
        value
      }
    }
  }
`,
  [SIGHTING],
);

/** Sightings of one thing at another. */
export const SAME_SIGHTINGS = operation(`
  query SameSightings($from: StixRef, $to: StixRef) {
    stixSightingRelationships(fromId: $from, toId: $to, first: 500) {
      edges {
        node {
          id
          first_seen
          last_seen
          attribute_count
        }
      }
    }
  }
`);

/** @throws ConnectError not_found, for what does not exist and what is hidden alike. */
export async function sightingById(platform: Platform, id: string) {
  const { stixSightingRelationship } = await platform.graphql(GET_SIGHTING, { id });
  if (stixSightingRelationship === null)
    throw notFound(`sighting_id: no sighting with the id ${id} exists or is visible to you`);
  return stixSightingRelationship;
}

const WINDOW_MS = 30 * 86_400_000;

/**
 * Refuses what the platform would take for a sighting that is there: within 30
 * days of its times it overwrites that one, and its count with it.
 *
 * @throws ConnectError already_exists, with the sighting's id and count.
 */
export async function checkNotSeen(
  platform: Platform,
  ends: { readonly from: string; readonly to: string },
  period: { readonly first: string; readonly last: string },
): Promise<void> {
  const { stixSightingRelationships } = await platform.graphql(SAME_SIGHTINGS, ends);
  const near = (one: string | null, other: string) =>
    one !== null && Math.abs(Date.parse(one) - Date.parse(other)) <= WINDOW_MS;
  const same = nodesOf(stixSightingRelationships).find(
    ({ first_seen, last_seen }) => near(first_seen, period.first) && near(last_seen, period.last),
  );
  if (same === undefined) return;
  throw alreadyExists(
    `nothing was written: a sighting of this at the same place and time already exists, with the count ${same.attribute_count} (id ${same.id}); raise its count with update_sighting`,
  );
}

/** A sighting, with those of its ends that the caller may see. */
export const sightingOf = (node: SightingNode) => ({
  id: node.id,
  ...endsOf(node),
  count: node.attribute_count,
  ...timeOf("firstSeen", node.first_seen),
  ...timeOf("lastSeen", node.last_seen),
  negative: node.x_opencti_negative,
  description: node.description ?? "",
  ...numberOf("confidence", node.confidence),
  markings: markingsOf(node),
});

/** A sighting as a row of a list: what one is chosen by. */
export const sightingRowOf = (node: SightingNode, asked: AskedEnds) => {
  const { from: _from, to: _to, description: _description, confidence: _confidence, ...row } = sightingOf(node);
  return { ...row, ...otherEndsOf(node, asked) };
};

/** What a sighting says of what update_sighting changes. */
export const toldOfSighting = (node: SightingNode): Told => ({
  count: node.attribute_count,
  first_seen: toldOf(node.first_seen),
  last_seen: toldOf(node.last_seen),
  negative: node.x_opencti_negative,
  description: toldOf(node.description),
  confidence: toldOf(node.confidence),
});
