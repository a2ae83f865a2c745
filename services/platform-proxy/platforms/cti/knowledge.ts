import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { shorten } from "../../../shared/tools/shorten.js";
import { fragment, type NodeOf } from "./graphql.js";

/** What names an object: where another refers to it. */
export const REF = fragment(`
  fragment Ref on StixCoreObject {
    id
    entity_type
    representative {
      main
    }
  }
`);

/** An object that another refers to. */
export type RefNode = NodeOf<typeof REF>;

/** The fields of a relationship's end, which may be a relationship itself. */
export const END = fragment(
  `
  fragment End on StixObjectOrStixRelationshipOrCreator {
    ...Ref
    ... on StixCoreRelationship {
      id
      entity_type
      representative {
        main
      }
    }
    ... on StixSightingRelationship {
      id
      entity_type
      representative {
        main
      }
    }
  }
`,
  [REF],
);

/** An end; without an id where the caller may not see it. */
export type EndNode = NodeOf<typeof END>;

/** The fields that make a summary. */
export const CORE = fragment(`
  fragment Core on StixCoreObject {
    id
    standard_id
    entity_type
    parent_types
    created_at
    updated_at
    representative {
      main
      secondary
    }
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
    ... on Report {
      described: description
    }
    ... on Grouping {
      described: description
    }
    ... on CaseIncident {
      described: description
    }
    ... on CaseRfi {
      described: description
    }
    ... on CaseRft {
      described: description
    }
    ... on Feedback {
      described: description
    }
    ... on Opinion {
      described: explanation
    }
  }
`);

/** What the fields of CORE answer. */
export type CoreNode = NodeOf<typeof CORE>;

/** An object as a row of a list. */
export function rowOf(node: CoreNode) {
  return {
    id: node.id,
    type: node.entity_type,
    name: node.representative.main,
    description: shorten(descriptionOf(node)),
    markings: markingsOf(node),
    labels: labelsOf(node),
    ...timeOf("createdAt", node.created_at),
  };
}

/** The platform shows the whole text of what has one and no description; an opinion is described by its reasons. */
export const descriptionOf = ({ described, representative }: CoreNode): string =>
  (described === undefined ? representative.secondary : described) ?? "";

/** An object with all that a summary holds. */
export function summaryOf(node: CoreNode) {
  return {
    ...rowOf(node),
    description: descriptionOf(node),
    ...authorOf(node),
    ...timeOf("updatedAt", node.updated_at),
  };
}

/** Whether the caller may see an end. */
export const isVisible = (end: EndNode | null): end is RefNode => end?.id !== undefined;

/** A field for the author, left out where nobody is named. */
export const authorOf = ({ createdBy }: Pick<CoreNode, "createdBy">) =>
  createdBy !== null && { author: { id: createdBy.id, type: createdBy.entity_type, name: createdBy.name } };

/** A reference to an object, or the fields of a row that is one. */
export function refOf(node: RefNode) {
  return { id: node.id, type: node.entity_type, name: node.representative.main };
}

/** Names of markings. */
export const markingsOf = ({ objectMarking }: Pick<CoreNode, "objectMarking">): string[] =>
  (objectMarking ?? []).map(({ definition }) => definition ?? "").filter((name) => name !== "");

/** Values of labels. */
export const labelsOf = ({ objectLabel }: Pick<CoreNode, "objectLabel">): string[] =>
  (objectLabel ?? []).map(({ value }) => value ?? "").filter((value) => value !== "");

/** The platform writes this where a period has no beginning; its filters take it for a time. */
export const NEVER = "1970-01-01T00:00:00.000Z";
/** The platform writes this where a period has no end. */
export const FOREVER = "5138-11-16T09:46:40.000Z";

/** A field for a time, left out where the platform has none. */
export function timeOf<K extends string>(key: K, value: string | null | undefined): { [P in K]?: Timestamp } {
  if (!value || value === NEVER || value === FOREVER) return {};
  return { [key]: timestampFromDate(new Date(value)) } as { [P in K]?: Timestamp };
}

/** A field for a number, left out where the platform has none. */
export function numberOf<K extends string>(key: K, value: number | null | undefined): { [P in K]?: number } {
  return value === null || value === undefined ? {} : ({ [key]: value } as { [P in K]?: number });
}
