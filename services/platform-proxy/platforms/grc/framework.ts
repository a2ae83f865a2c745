import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FrameworkSchema } from "#proto/grc/v1/framework_service_pb.js";
import { given } from "../../lib/fields.js";
import { levelsOf, type Related, type ScoresDefinition } from "./upstream.js";

/** The list of frameworks. */
export const FRAMEWORKS = "/api/frameworks/";

/** A framework as the platform shows it. */
export interface UpstreamFramework {
  readonly id: string;
  readonly ref_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly provider: string | null;
  readonly folder: Related;
  readonly min_score: number;
  readonly max_score: number;
  readonly scores_definition: ScoresDefinition;
  readonly has_compliance_assessments: boolean;
}

/** A framework as tools show it. */
export function frameworkOf(framework: UpstreamFramework) {
  const { id, name, ref_id, description, provider, min_score, max_score, scores_definition } = framework;
  return {
    id,
    name,
    ...given({ refId: ref_id, description, provider }),
    minScore: min_score,
    maxScore: max_score,
    levels: levelsOf(scores_definition).map((level) => ({
      score: level.score,
      name: level.name,
      ...given({ description: level.description }),
    })),
    inUse: framework.has_compliance_assessments,
  } satisfies MessageInitShape<typeof FrameworkSchema>;
}
