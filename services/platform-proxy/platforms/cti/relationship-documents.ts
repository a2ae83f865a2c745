import { operation } from "./graphql.js";
import { PAGE } from "./paging.js";
import { RELATIONSHIP } from "./relationships.js";

/** Relationships of an object, newest first. */
export const LIST_RELATIONSHIPS = operation(
  `
  query ListRelationships($id: [String], $types: [String], $filters: FilterGroup, $first: Int, $after: ID) {
    stixCoreRelationships(
      fromOrToId: $id
      relationship_type: $types
      filters: $filters
      first: $first
      after: $after
      orderBy: created_at
      orderMode: desc
    ) {
      edges {
        node {
          ...Rel
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [RELATIONSHIP, PAGE],
);

/** Relationships of a type between two objects. */
export const SAME_RELATIONSHIPS = operation(`
  query SameRelationships($from: [String], $to: [String], $types: [String]) {
    stixCoreRelationships(fromId: $from, toId: $to, relationship_type: $types, first: 100) {
      edges {
        node {
          id
          start_time
        }
      }
    }
  }
`);

/** Relationships by their ends, newest first. */
export const SELECT_RELATIONSHIPS = operation(
  `
  query SelectRelationships(
    $from: [String]
    $to: [String]
    $types: [String]
    $fromTypes: [String]
    $toTypes: [String]
    $filters: FilterGroup
    $first: Int
    $after: ID
  ) {
    stixCoreRelationships(
      fromId: $from
      toId: $to
      relationship_type: $types
      fromTypes: $fromTypes
      toTypes: $toTypes
      filters: $filters
      first: $first
      after: $after
      orderBy: created_at
      orderMode: desc
    ) {
      edges {
        node {
          ...Rel
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [RELATIONSHIP, PAGE],
);

/** Changes fields of a relationship. */
export const UPDATE_RELATIONSHIP = operation(`
  mutation UpdateRelationship($id: ID!, $input: [EditInput]!, $references: [String]) {
    stixCoreRelationshipEdit(id: $id) {
      fieldPatch(input: $input, references: $references) {
        id
      }
    }
  }
`);

/** Deletes a relationship. */
export const DELETE_RELATIONSHIP = operation(`
  mutation DeleteRelationship($id: ID!) {
    stixCoreRelationshipEdit(id: $id) {
      delete
    }
  }
`);

/** Relates two objects. */
export const CREATE_RELATIONSHIP = operation(
  `
  mutation CreateRelationship($input: StixCoreRelationshipAddInput) {
    stixCoreRelationshipAdd(input: $input) {
      ...Rel
    }
  }
`,
  [RELATIONSHIP],
);
