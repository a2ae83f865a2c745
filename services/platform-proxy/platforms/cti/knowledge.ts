import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ObjectRefSchema, ObjectSummarySchema } from "#proto/cti/v1/knowledge_pb.js";

/** The fields that make a summary. */
export const CORE = `fragment Core on StixCoreObject { id standard_id entity_type parent_types created_at updated_at representative { main secondary } createdBy { id entity_type name } objectMarking { definition } objectLabel { value } }`;

/** What the fields of CORE answer. */
export interface CoreNode {
  readonly id: string;
  readonly standard_id: string;
  readonly entity_type: string;
  readonly parent_types: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly representative: { readonly main: string; readonly secondary?: string | null };
  readonly createdBy: { readonly id: string; readonly entity_type: string; readonly name: string } | null;
  readonly objectMarking: readonly { readonly definition: string | null }[] | null;
  readonly objectLabel: readonly { readonly value: string | null }[] | null;
}

/** What names an object: where another refers to it. */
export interface RefNode {
  readonly id: string;
  readonly entity_type: string;
  readonly representative: { readonly main: string };
}

/** The fields of a relationship's end, which may be a relationship itself. */
export const END =
  "... on StixCoreObject { id entity_type representative { main } } ... on StixCoreRelationship { id entity_type representative { main } }";

const PREVIEW = 500;

export function summaryOf(node: CoreNode, whole = false): MessageInitShape<typeof ObjectSummarySchema> {
  const description = node.representative.secondary ?? "";
  return {
    id: node.id,
    type: node.entity_type,
    name: node.representative.main,
    description: whole ? description : preview(description),
    ...(node.createdBy !== null && {
      author: { id: node.createdBy.id, type: node.createdBy.entity_type, name: node.createdBy.name },
    }),
    markings: markingsOf(node),
    labels: labelsOf(node),
    ...timeOf("createdAt", node.created_at),
    ...timeOf("updatedAt", node.updated_at),
  };
}

export function refOf(node: RefNode): MessageInitShape<typeof ObjectRefSchema> {
  return { id: node.id, type: node.entity_type, name: node.representative.main };
}

export function preview(text: string | null): string {
  if (text === null || text.length <= PREVIEW) return text ?? "";
  return `${text.slice(0, PREVIEW)}…`;
}

export const markingsOf = ({ objectMarking }: Pick<CoreNode, "objectMarking">): string[] =>
  (objectMarking ?? []).map(({ definition }) => definition ?? "").filter((name) => name !== "");

export const labelsOf = ({ objectLabel }: Pick<CoreNode, "objectLabel">): string[] =>
  (objectLabel ?? []).map(({ value }) => value ?? "").filter((value) => value !== "");

// The platform writes these where a period has no beginning or no end.
const NEVER = "1970-01-01T00:00:00.000Z";
const FOREVER = "5138-11-16T09:46:40.000Z";

/** A field for a time, left out where the platform has none. */
export function timeOf<K extends string>(key: K, value: string | null | undefined): { [P in K]?: Timestamp } {
  if (!value || value === NEVER || value === FOREVER) return {};
  return { [key]: timestampFromDate(new Date(value)) } as { [P in K]?: Timestamp };
}

/** A field for a number, left out where the platform has none. */
export function numberOf<K extends string>(key: K, value: number | null | undefined): { [P in K]?: number } {
  return value === null || value === undefined ? {} : ({ [key]: value } as { [P in K]?: number });
}
