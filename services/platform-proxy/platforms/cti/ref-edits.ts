import { operation } from "./graphql.js";

/** Puts references of one kind, such as labels, on an object. */
export const ADD_REFS = operation(`
  mutation AddLabels($id: ID!, $input: StixRefRelationshipsAddInput!, $references: [String]) {
    stixCoreObjectEdit(id: $id) {
      relationsAdd(input: $input, references: $references) {
        id
      }
    }
  }
`);

/** Takes a reference of one kind off an object. */
export const REMOVE_REF = operation(`
  mutation RemoveRef($id: ID!, $toId: StixRef!, $type: String!) {
    stixCoreObjectEdit(id: $id) {
      relationDelete(toId: $toId, relationship_type: $type) {
        id
      }
    }
  }
`);
