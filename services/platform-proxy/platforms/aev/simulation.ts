import type { MessageInitShape } from "@bufbuild/protobuf";
import { Severity } from "#proto/aev/v1/scenario_pb.js";
import { type SimulationSchema, SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf } from "../../lib/words.js";
import { toOutcomes, toResult, toTargets } from "./results.js";
import type { UpstreamSimulation } from "./upstream.js";

/** A simulation as a row of a search. */
export function toSimulationRow(row: UpstreamSimulation): MessageInitShape<typeof SimulationSchema> {
  return {
    id: row.exercise_id,
    name: row.exercise_name,
    status: enumOf(SimulationStatus, row.exercise_status),
    ...given({ startedAt: timeOf(row.exercise_start_date) }),
    ...toOutcomes(row.exercise_global_score),
  };
}

/**
 * A simulation as tools show it.
 *
 * @param names gives the names of labels by their ids.
 */
export function toSimulation(
  row: UpstreamSimulation,
  names: (ids: readonly string[] | null) => string[],
): MessageInitShape<typeof SimulationSchema> {
  return {
    id: row.exercise_id,
    name: row.exercise_name,
    status: enumOf(SimulationStatus, row.exercise_status),
    category: row.exercise_category ?? "",
    severity: enumOf(Severity, row.exercise_severity),
    labels: names(row.exercise_tags),
    results: (row.exercise_global_score ?? []).map(toResult),
    targets: toTargets(row.exercise_targets),
    ...(row.exercise_scenario != null && { scenario: { id: row.exercise_scenario } }),
    ...given({
      description: row.exercise_description,
      startedAt: timeOf(row.exercise_start_date),
      endedAt: timeOf(row.exercise_end_date),
      updatedAt: timeOf(row.exercise_updated_at),
      players: row.exercise_users_number,
    }),
  };
}
