import type { DataOf } from "../../document.js";
import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";
import { CORE } from "./knowledge.js";
import { type ListRequest, listPage } from "./lists.js";
import { objectRowOf, ROW_DESCRIPTION } from "./object-rows.js";
import { PAGE } from "./paging.js";
import type { Filter } from "./resolve.js";

// Of one kind of domain objects a list is the same as of any other, but for its
// types and for the fields that only this kind has.

/** Domain objects of some types, with what their own types have. */
export const LIST_KIND = operation(
  `
  query ListKind(
    $types: [String]
    $search: String
    $first: Int
    $after: ID
    $filters: FilterGroup
    $orderBy: StixDomainObjectsOrdering
    $orderMode: OrderingMode
  ) {
    stixDomainObjects(
      types: $types
      search: $search
      first: $first
      after: $after
      filters: $filters
      orderBy: $orderBy
      orderMode: $orderMode
    ) {
      edges {
        node {
          ...Core
          ... on ThreatActor {
            aliases
            threat_actor_types
          }
          ... on IntrusionSet {
            aliases
            primary_motivation
            resource_level
            first_seen
            last_seen
          }
          ... on Campaign {
            aliases
            first_seen
            last_seen
          }
          ... on Malware {
            aliases
            malware_types
            is_family
          }
          ... on Tool {
            aliases
            tool_types
          }
          ... on AttackPattern {
            x_mitre_platforms
            killChainPhases {
              phase_name
            }
          }
          ... on Incident {
            incident_type
            severity
            first_seen
            last_seen
          }
          ... on Infrastructure {
            aliases
            infrastructure_types
          }
          ... on CourseOfAction {
            x_opencti_aliases
          }
          ... on Individual {
            x_opencti_aliases
          }
          ... on Organization {
            x_opencti_aliases
          }
          ... on Sector {
            x_opencti_aliases
          }
          ... on System {
            x_opencti_aliases
          }
          ... on City {
            x_opencti_aliases
          }
          ... on Country {
            x_opencti_aliases
          }
          ... on Region {
            x_opencti_aliases
          }
          ... on AdministrativeArea {
            x_opencti_aliases
          }
          ... on Position {
            x_opencti_aliases
          }
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [CORE, PAGE],
);

type Page = NonNullable<DataOf<typeof LIST_KIND>["stixDomainObjects"]>;

/** One object of a kind, with what its type has. */
export type KindNode = NonNullable<NonNullable<Page["edges"]>[number]>["node"];

/**
 * One page of the objects of some types.
 *
 * @param own conditions beside those of the request's filter.
 */
export async function kindPage(
  platform: Platform,
  request: ListRequest,
  types: readonly string[],
  own: readonly Filter[] = [],
) {
  return listPage<KindNode>(platform, request, ["kind", types], own, async (page) => {
    return (await platform.graphql(LIST_KIND, { types, ...page })).stixDomainObjects;
  });
}

/** The fields of a row that all kinds have, and its other names. */
export const kindRowOf = (node: KindNode, characters = ROW_DESCRIPTION) => ({
  ...objectRowOf(node, characters),
  aliases: textsOf(node.aliases ?? node.x_opencti_aliases),
});

/** A list of words; empty where the platform has none. */
export const textsOf = (list: readonly (string | null)[] | null | undefined): string[] =>
  (list ?? []).filter((one) => one !== null && one !== "") as string[];
