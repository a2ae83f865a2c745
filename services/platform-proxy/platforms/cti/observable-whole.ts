import { notFound } from "../../../shared/rpc/errors.js";
import type { DataOf } from "../../document.js";
import type { Platform } from "../../platform.js";
import { type Told, toldOf } from "./edits.js";
import { operation } from "./graphql.js";
import { REF } from "./knowledge.js";
import { INDICATOR, OBSERVABLE } from "./observables.js";

/** One observable, with what is based on it and what holds it. */
export const GET_OBSERVABLE = operation(
  `
  query GetObservable($id: String!) {
    stixCyberObservable(id: $id) {
      ...Obs
      standard_id
      updated_at
      representative {
        main
      }
      createdBy {
        id
        entity_type
        name
      }
      ... on StixFile {
        file_name: name
        mime_type
        size
        hashes {
          algorithm
          hash
        }
      }
      ... on Artifact {
        mime_type
        hashes {
          algorithm
          hash
        }
      }
      ... on X509Certificate {
        hashes {
          algorithm
          hash
        }
      }
      indicators(first: 20) {
        edges {
          node {
            ...Ind
          }
        }
      }
      containers(first: 20) {
        edges {
          node {
            ...Ref
          }
        }
      }
    }
  }
`,
  [OBSERVABLE, INDICATOR, REF],
);

/** An observable with all that is told of it. */
export type WholeObservable = NonNullable<DataOf<typeof GET_OBSERVABLE>["stixCyberObservable"]>;

/** @throws ConnectError not_found, for what does not exist and what is hidden alike. */
export async function observableById(platform: Platform, id: string): Promise<WholeObservable> {
  const { stixCyberObservable } = await platform.graphql(GET_OBSERVABLE, { id });
  if (stixCyberObservable === null)
    throw notFound(`observable_id: no observable with the id ${id} exists or is visible to you`);
  return stixCyberObservable;
}

/** What an observable says of what update_observable changes. */
export const toldOfObservable = (node: WholeObservable): Told => ({
  score: toldOf(node.x_opencti_score),
  description: toldOf(node.x_opencti_description),
});
