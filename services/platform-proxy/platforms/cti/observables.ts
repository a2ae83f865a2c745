import type { MessageInitShape } from "@bufbuild/protobuf";
import type { IndicatorSchema } from "#proto/cti/v1/search_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import type { Platform } from "../../platform.js";
import { fragment, type NodeOf } from "./graphql.js";
import { labelsOf, markingsOf, numberOf, timeOf } from "./knowledge.js";
import { type Known, objectsOf } from "./resolve.js";

/** The fields that make an observable. */
export const OBSERVABLE = fragment(`
  fragment Obs on StixCyberObservable {
    id
    entity_type
    observable_value
    x_opencti_score
    x_opencti_description
    created_at
    objectMarking {
      definition
    }
    objectLabel {
      value
    }
  }
`);

/** What the fields of OBSERVABLE answer. */
export type ObservableNode = NodeOf<typeof OBSERVABLE>;

/** An observable in short. */
export function observableOf(node: ObservableNode) {
  return {
    id: node.id,
    type: node.entity_type,
    value: node.observable_value,
    ...numberOf("score", node.x_opencti_score),
    description: shorten(node.x_opencti_description),
    markings: markingsOf(node),
    labels: labelsOf(node),
    ...timeOf("createdAt", node.created_at),
  };
}

/**
 * Resolves ids that must be of observables.
 *
 * @throws ConnectError not_found, or invalid_argument that names what is no observable.
 */
export async function observablesOf(platform: Platform, ids: readonly string[], argument: string): Promise<Known[]> {
  const known = await objectsOf(platform, ids, argument);
  const other = known.find(({ parent_types }) => !parent_types?.includes("Stix-Cyber-Observable"));
  if (other === undefined) return known;
  throw invalidArgument(
    `${argument}: ${other.representative.main} (id ${other.id}) has the type ${other.entity_type} and is not an observable; list_observables returns ids`,
  );
}

/** The fields that make an indicator. */
export const INDICATOR = fragment(`
  fragment Ind on Indicator {
    id
    name
    pattern
    pattern_type
    valid_from
    valid_until
    created_at
    revoked
    x_opencti_score
    x_opencti_main_observable_type
    objectMarking {
      definition
    }
    objectLabel {
      value
    }
  }
`);

/** What the fields of INDICATOR answer. */
export type IndicatorNode = NodeOf<typeof INDICATOR>;

/** An indicator as a row of a list. */
export function indicatorRowOf(node: IndicatorNode): MessageInitShape<typeof IndicatorSchema> {
  const { validFrom: _, mainObservableType: __, patternType, ...row } = indicatorOf(node);
  return { ...row, pattern: shorten(node.pattern), ...(patternType !== "stix" && { patternType }) };
}

/** An indicator. */
export function indicatorOf(node: IndicatorNode) {
  return {
    id: node.id,
    name: node.name,
    pattern: node.pattern ?? "",
    patternType: node.pattern_type ?? "",
    ...timeOf("validFrom", node.valid_from),
    ...timeOf("validUntil", node.valid_until),
    revoked: node.revoked,
    ...numberOf("score", node.x_opencti_score),
    mainObservableType: node.x_opencti_main_observable_type ?? "",
    markings: markingsOf(node),
    labels: labelsOf(node),
  };
}
