import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { FrameworkSchema } from "#proto/grc/v1/framework_service_pb.js";
import { given } from "../../lib/fields.js";
import type { Platform } from "../../platform.js";
import { levelsOf, type Reference, type Related, referenceOf, type ScoresDefinition } from "./upstream.js";

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
  readonly updated_at: string;
  readonly min_score: number;
  readonly max_score: number;
  readonly scores_definition: ScoresDefinition;
  readonly has_compliance_assessments: boolean;
  readonly implementation_groups_definition?: readonly { readonly ref_id: string; readonly name: string }[] | null;
}

/** A framework under its own name: where others refer to it, the platform puts the publisher in front. */
export async function frameworkNamed(related: Related | undefined, platform: Platform): Promise<Reference | undefined> {
  const reference = referenceOf(related);
  if (reference === undefined) return undefined;
  try {
    const { name } = await platform.rest<UpstreamFramework>({ verb: "GET", path: `${FRAMEWORKS}${reference.id}/` });
    return { id: reference.id, name };
  } catch (error) {
    // Who sees an audit may not see its framework.
    if (error instanceof ConnectError && error.code === Code.NotFound) return reference;
    throw error;
  }
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
    groups: (framework.implementation_groups_definition ?? []).map(({ ref_id: refId, name }) => ({ refId, name })),
    inUse: framework.has_compliance_assessments,
  } satisfies MessageInitShape<typeof FrameworkSchema>;
}
