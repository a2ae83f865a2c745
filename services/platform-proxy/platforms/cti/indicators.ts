import { alreadyExists, notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { type Told, toldOf } from "./edits.js";
import { fragment, type NodeOf, operation } from "./graphql.js";
import { REF } from "./knowledge.js";
import { INDICATOR } from "./observables.js";
import { nodesOf } from "./paging.js";
import { any } from "./resolve.js";

/** All that is told of an indicator. */
export const INDICATOR_WHOLE = fragment(
  `
  fragment IndWhole on Indicator {
    ...Ind
    standard_id
    entity_type
    updated_at
    description
    confidence
    indicator_types
    x_opencti_detection
    x_mitre_platforms
    decay_base_score
    representative {
      main
      secondary
    }
    createdBy {
      id
      entity_type
      name
    }
    killChainPhases {
      phase_name
    }
    observables(first: 50) {
      edges {
        node {
          ...Ref
        }
      }
    }
  }
`,
  [INDICATOR, REF],
);

/** An indicator with all that is told of it. */
export type WholeIndicator = NodeOf<typeof INDICATOR_WHOLE>;

/** One indicator. */
export const GET_INDICATOR = operation(
  `
  query GetIndicator($id: String!) {
    indicator(id: $id) {
      ...IndWhole
    }
  }
`,
  [INDICATOR_WHOLE],
);

/** Indicators of a pattern, among others that hold its words. */
export const SAME_PATTERN = operation(`
  query SamePattern($filters: FilterGroup) {
    indicators(filters: $filters, first: 50) {
      edges {
        node {
          id
          name
          pattern
        }
      }
    }
  }
`);

/** @throws ConnectError not_found, for what does not exist and what is hidden alike. */
export async function indicatorById(platform: Platform, id: string): Promise<WholeIndicator> {
  const { indicator } = await platform.graphql(GET_INDICATOR, { id });
  if (indicator === null) throw notFound(`indicator_id: no indicator with the id ${id} exists or is visible to you`);
  return indicator;
}

/** @throws ConnectError already_exists, with the id of the indicator that the platform would take the new one for and overwrite. */
export async function checkPattern(platform: Platform, pattern: string): Promise<void> {
  const same = await ofPattern(platform, pattern);
  if (same === undefined) return;
  throw alreadyExists(
    `nothing was written: the indicator ${same.name} (id ${same.id}) already has this pattern; change it with update_indicator`,
  );
}

/** The indicator of a pattern, if the caller sees one. */
export async function ofPattern(platform: Platform, pattern: string) {
  const words = `"${pattern.replaceAll('"', " ").slice(0, MOST_SEARCHED)}"`;
  const filters = any(
    { key: ["pattern"], values: [pattern] },
    { key: ["pattern"], values: [words], operator: "search" },
  );
  const { indicators } = await platform.graphql(SAME_PATTERN, { filters });
  return nodesOf(indicators).find((one) => plain(one.pattern ?? "") === plain(pattern));
}

/** As much of a pattern is searched for. */
const MOST_SEARCHED = 500;

/** The platform writes patterns anew, without blanks between their parts. */
const plain = (pattern: string): string => pattern.replace(/\s/g, "");

/** What an indicator says of what update_indicator changes, and of what the platform changes along. */
export const toldOfIndicator = (node: WholeIndicator): Told => ({
  name: node.name,
  description: toldOf(node.description),
  score: toldOf(node.x_opencti_score),
  valid_from: toldOf(node.valid_from),
  valid_until: toldOf(node.valid_until),
  revoked: node.revoked,
  detection: toldOf(node.x_opencti_detection) ?? false,
  confidence: toldOf(node.confidence),
});
