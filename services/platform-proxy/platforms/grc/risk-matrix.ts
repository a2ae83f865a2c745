import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { type ScenarioFields, STAGES } from "./risk.js";
import type { Related } from "./upstream.js";

interface UpstreamMatrix {
  /** JSON, which the platform hands out as a text. */
  readonly json_definition?: string | Definition;
}

interface Definition {
  readonly probability?: readonly unknown[];
  readonly impact?: readonly unknown[];
}

/**
 * Holds ratings against the matrix of their risk assessment. The platform stores an index
 * outside the matrix if the other index of the pair is not rated, and from then on fails to list
 * the scenario; a new scenario with such a pair makes it fail at once.
 *
 * @throws ConnectError invalid_argument for an index that the matrix does not have.
 */
export async function checkRatings(r: ScenarioFields, matrix: Related | null | undefined, platform: Platform) {
  const given = STAGES.flatMap((stage) => [
    { argument: `${stage}_probability`, scale: "probability", index: r[`${stage}Probability`] } as const,
    { argument: `${stage}_impact`, scale: "impact", index: r[`${stage}Impact`] } as const,
  ]).filter(({ index }) => index !== undefined);
  // Who may not see the matrix is not told its size, and neither are we.
  if (given.length === 0 || matrix?.id === undefined) return;
  const read = await platform.rest<UpstreamMatrix>({ verb: "GET", path: `/api/risk-matrices/${matrix.id}/` });
  const definition = definitionOf(read.json_definition);
  const wrong = given.flatMap(({ argument, scale, index }) => {
    const size = definition[scale]?.length ?? 0;
    return size === 0 || index! < size
      ? []
      : `${argument}: is outside its scale; the risk matrix has the indexes 0 to ${size - 1}`;
  });
  if (wrong.length > 0) throw invalidArgument(wrong.join("; "));
}

function definitionOf(json: UpstreamMatrix["json_definition"]): Definition {
  if (typeof json !== "string") return json ?? {};
  try {
    return JSON.parse(json) as Definition;
  } catch {
    return {};
  }
}
