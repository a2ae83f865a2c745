import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ScenarioSchema, Severity } from "#proto/aev/v1/scenario_pb.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf, wordOf } from "../../lib/words.js";
import type { UpstreamScenario } from "./upstream.js";

/** The platform's word for a severity. */
export function severityWord(severity: Severity): string {
  return wordOf(Severity, severity);
}

/**
 * A scenario as a row of a search.
 *
 * @param names gives the names of labels by their ids.
 */
export function toScenarioRow(row: UpstreamScenario, names: (ids: readonly string[] | null) => string[]) {
  return {
    id: row.scenario_id,
    name: row.scenario_name,
    category: row.scenario_category ?? "",
    severity: enumOf(Severity, row.scenario_severity),
    labels: names(row.scenario_tags),
    ...given({ recurrence: row.scenario_recurrence, updatedAt: timeOf(row.scenario_updated_at) }),
  } satisfies MessageInitShape<typeof ScenarioSchema>;
}

/**
 * A scenario as tools show it.
 *
 * @param names gives the names of labels by their ids.
 */
export function toScenario(
  row: UpstreamScenario,
  names: (ids: readonly string[] | null) => string[],
): MessageInitShape<typeof ScenarioSchema> {
  return {
    ...toScenarioRow(row, names),
    description: row.scenario_description ?? "",
    platforms: [...(row.scenario_platforms ?? [])].sort(),
    simulations: (row.scenario_exercises ?? []).map((id) => ({ id })),
    ...given({
      mainFocus: row.scenario_main_focus,
      players: row.scenario_users_number,
      createdAt: timeOf(row.scenario_created_at),
      recurrenceStartAt: timeOf(row.scenario_recurrence_start),
      recurrenceEndAt: timeOf(row.scenario_recurrence_end),
    }),
  };
}
