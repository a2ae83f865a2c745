import { notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { type Told, toldOf } from "./edits.js";
import { fragment, type NodeOf, operation } from "./graphql.js";
import { END, type EndNode, isVisible, numberOf, type RefNode, refOf, timeOf } from "./knowledge.js";

/** The fields that make a relationship. */
export const RELATIONSHIP = fragment(
  `
  fragment Rel on StixCoreRelationship {
    id
    relationship_type
    description
    confidence
    start_time
    stop_time
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

/** What the fields of RELATIONSHIP answer. */
export type RelationshipNode = NodeOf<typeof RELATIONSHIP>;

/** One relationship, with what belongs to it. */
export const GET_RELATIONSHIP = operation(
  `
  query GetRelationship($id: String!) {
    stixCoreRelationship(id: $id) {
      ...Rel
      standard_id
      created_at
      updated_at
      createdBy {
        id
        entity_type
        name
      }
      objectMarking {
        definition
      }
      objectLabel {
        value
      }
    }
  }
`,
  [RELATIONSHIP],
);

/** @throws ConnectError not_found, for what does not exist and what is hidden alike. */
export async function relationshipById(platform: Platform, id: string) {
  const { stixCoreRelationship } = await platform.graphql(GET_RELATIONSHIP, { id });
  if (stixCoreRelationship === null)
    throw notFound(`relationship_id: no relationship with the id ${id} exists or is visible to you`);
  return stixCoreRelationship;
}

/** Both ends, as far as the caller may see them: of a hidden one the platform tells the id. */
export const endsOf = ({ from, to }: { readonly from: EndNode | null; readonly to: EndNode | null }) => ({
  ...(isVisible(from) && { from: refOf(from) }),
  ...(isVisible(to) && { to: refOf(to) }),
});

/** A relationship without its ends. */
export const relationshipOf = (node: RelationshipNode) => ({
  id: node.id,
  type: node.relationship_type,
  description: node.description ?? "",
  ...numberOf("confidence", node.confidence),
  ...periodOf(node),
});

/** A relationship with those of its ends that the caller may see. */
export const wholeRelationshipOf = (node: RelationshipNode) => ({ ...relationshipOf(node), ...endsOf(node) });

/** The ends that all rows of a list have, where it was asked for by them. */
export interface AskedEnds {
  readonly from?: RefNode | undefined;
  readonly to?: RefNode | undefined;
}

/** The ends of a row that are not told for all rows. */
export const otherEndsOf = (node: Parameters<typeof endsOf>[0], asked: AskedEnds) =>
  endsOf({ from: asked.from === undefined ? node.from : null, to: asked.to === undefined ? node.to : null });

/** What is told of the ends of all rows, once. */
export const askedEndsOf = ({ from, to }: AskedEnds) => endsOf({ from: from ?? null, to: to ?? null });

/** A relationship as a row of a list: what one is chosen by. */
export const relationshipRowOf = (node: RelationshipNode, asked: AskedEnds) => ({
  id: node.id,
  type: node.relationship_type,
  ...otherEndsOf(node, asked),
  ...periodOf(node),
});

/** When a relationship holds. */
export const periodOf = (node: Pick<RelationshipNode, "start_time" | "stop_time">) => ({
  ...timeOf("startTime", node.start_time),
  ...timeOf("stopTime", node.stop_time),
});

/** What a relationship says of what update_relationship changes. */
export const toldOfRelationship = (node: RelationshipNode): Told => ({
  description: toldOf(node.description),
  confidence: toldOf(node.confidence),
  start_time: toldOf(node.start_time),
  stop_time: toldOf(node.stop_time),
});
