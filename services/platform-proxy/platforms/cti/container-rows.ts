import { shorten } from "../../../shared/tools/shorten.js";
import type { Platform } from "../../platform.js";
import { COUNTED, countOf } from "./contents.js";
import { fragment, type NodeOf, operation } from "./graphql.js";
import { authorOf, CORE, numberOf, rowOf, timeOf } from "./knowledge.js";
import { type ListRequest, listPage } from "./lists.js";
import { PAGE } from "./paging.js";
import type { Filter } from "./resolve.js";

/** The types of containers. */
export const CONTAINER_TYPES: readonly string[] = [
  "Report",
  "Grouping",
  "Case-Incident",
  "Case-Rfi",
  "Case-Rft",
  "Feedback",
  "Task",
  "Note",
  "Opinion",
  "Observed-Data",
];

/** The fields that make a row of a container of any kind. */
export const CONTAINER = fragment(
  `
  fragment ContainerRow on Container {
    ...Core
    status {
      template {
        name
      }
    }
    ... on Report {
      published
    }
    ... on Grouping {
      context
    }
    ... on CaseIncident {
      severity
      priority
    }
    ... on CaseRfi {
      severity
      priority
    }
    ... on CaseRft {
      severity
      priority
    }
    ... on Task {
      due_date
    }
    ... on Note {
      attribute_abstract
    }
    ... on Opinion {
      explanation
    }
  }
`,
  [CORE],
);

/** The fields that make a container whole; a text that some must have bears a name of its own. */
const WHOLE = fragment(
  `
  fragment ContainerWhole on Container {
    ...ContainerRow
    ...Counted
    confidence
    ... on Report {
      description
      content
      report_types
      x_opencti_reliability
    }
    ... on Grouping {
      description
      content
    }
    ... on CaseIncident {
      description
      content
      response_types
    }
    ... on CaseRfi {
      description
      content
      information_types
    }
    ... on CaseRft {
      description
      content
      takedown_types
    }
    ... on Feedback {
      description
      content
    }
    ... on Task {
      description
    }
    ... on Note {
      note: content
      note_types
      likelihood
    }
    ... on Opinion {
      opinion
    }
  }
`,
  [CONTAINER, COUNTED],
);

/** Containers of any kind. */
export const LIST_CONTAINERS = operation(
  `
  query ListContainers(
    $search: String
    $first: Int
    $after: ID
    $filters: FilterGroup
    $orderBy: ContainersOrdering
    $orderMode: OrderingMode
  ) {
    containers(
      search: $search
      first: $first
      after: $after
      filters: $filters
      orderBy: $orderBy
      orderMode: $orderMode
    ) {
      edges {
        node {
          ...ContainerRow
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [CONTAINER, PAGE],
);

/** One container whole. */
export const GET_CONTAINER = operation(
  `
  query GetContainer($id: String) {
    container(id: $id) {
      ...ContainerWhole
    }
  }
`,
  [WHOLE],
);

/** What the fields of a container answer. */
export type ContainerNode = NodeOf<typeof WHOLE>;

/** One page of containers of some types. */
export function containersPage(
  platform: Platform,
  request: ListRequest,
  types: readonly string[],
  own: readonly Filter[] = [],
) {
  const ofTypes: Filter[] = types.length === 0 ? [] : [{ key: ["entity_type"], values: types }];
  return listPage(platform, request, "containers", [...ofTypes, ...own], async (page) => {
    return (await platform.graphql(LIST_CONTAINERS, page)).containers;
  });
}

/** A container as a row of a list, where the platform names what has no name "Unknown". */
export function containerRowOf(node: NodeOf<typeof CONTAINER>) {
  const { description, createdAt, ...row } = rowOf(node);
  return {
    ...row,
    ...(node.published == null && createdAt !== undefined && { createdAt }),
    name: nameOf(node),
    description: node.explanation == null ? description : shorten(node.explanation),
    ...timeOf("published", node.published),
    severity: node.severity ?? "",
    priority: node.priority ?? "",
    context: node.context ?? "",
    ...timeOf("dueDate", node.due_date),
    status: statusOf(node),
  };
}

/** A row of a list whose rows are of one type. */
export function untypedRowOf(node: NodeOf<typeof CONTAINER>) {
  const { type: _, ...row } = containerRowOf(node);
  return row;
}

const MAX_CONTENT = 24_000;

/** The texts and types of a container, by whatever name its type has for them. */
export function containerTexts(node: ContainerNode) {
  const types = node.report_types ?? node.response_types ?? node.information_types ?? node.takedown_types;
  return {
    description: node.description ?? node.explanation ?? "",
    content: node.content ?? node.note ?? "",
    types: (types ?? node.note_types ?? []).filter((type) => type !== null),
  };
}

/** A container whole. */
export function containerOf(node: ContainerNode) {
  const { description: _, ...row } = containerRowOf(node);
  const { content, ...texts } = containerTexts(node);
  return {
    ...row,
    ...texts,
    content: shorten(content, MAX_CONTENT),
    ...(content.length > MAX_CONTENT && { contentTruncated: true }),
    ...numberOf("likelihood", node.likelihood),
    reliability: node.x_opencti_reliability ?? "",
    ...authorOf(node),
    ...numberOf("confidence", node.confidence),
    ...timeOf("createdAt", node.created_at),
    ...timeOf("updatedAt", node.updated_at),
    ...countOf(node.objects),
  };
}

const nameOf = (node: NodeOf<typeof CONTAINER>): string =>
  node.entity_type === "Note" ? (node.attribute_abstract ?? "") : node.representative.main;

/** The name of a container's state; "" where it has none. */
export const statusOf = ({ status }: Pick<NodeOf<typeof CONTAINER>, "status">): string => status?.template?.name ?? "";
