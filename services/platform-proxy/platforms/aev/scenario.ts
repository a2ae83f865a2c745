import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ScenarioSchema, Severity } from "#proto/aev/v1/scenario_pb.js";
import type { UpstreamScenario } from "./upstream.js";
import { enumOf, given, timeOf } from "./words.js";

/** The platform's word for a severity. */
export function severityWord(severity: Severity): string {
  return (Severity[severity] as string).toLowerCase();
}

/** @param names gives the names of tags by their ids. */
export function toScenario(
  row: UpstreamScenario,
  names: (ids: readonly string[]) => string[],
): MessageInitShape<typeof ScenarioSchema> {
  return {
    id: row.scenario_id,
    name: row.scenario_name,
    description: row.scenario_description ?? "",
    category: row.scenario_category ?? "",
    severity: enumOf(Severity, row.scenario_severity),
    tags: names(row.scenario_tags),
    platforms: [...(row.scenario_platforms ?? [])].sort(),
    simulationIds: [...(row.scenario_exercises ?? [])],
    ...given({
      mainFocus: row.scenario_main_focus,
      recurrence: row.scenario_recurrence,
      players: row.scenario_users_number,
      createdAt: timeOf(row.scenario_created_at),
      updatedAt: timeOf(row.scenario_updated_at),
    }),
  };
}
