import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ScenarioScoreSchema } from "#proto/aev/v1/scenario_plan_service_pb.js";
import { given } from "../../lib/fields.js";
import { inTurns } from "../../lib/in-turns.js";
import { timeOf } from "../../lib/time.js";
import type { Platform } from "../../platform.js";
import { readById, SIMULATION } from "./member.js";
import type { UpstreamResult } from "./results.js";
import { oneOf, searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamSimulation } from "./upstream.js";

// The platform's own statistics of a scenario are of its latest ten finished runs, and leave canceled ones out
// without a word. So the runs themselves are read, with their results.

/** Runs of each status whose results are told. */
const MAX_SHOWN = 10;
/** Runs of one scenario that are looked through. */
const MAX_RUNS = 5_000;

/** A run that has ended. */
interface EndedRun {
  readonly row: UpstreamSimulation;
  readonly endedAt: Timestamp | undefined;
}

/** The latest ended runs of a scenario that the caller may see, oldest first, and how many others there are. */
export async function runsOf(
  platform: Platform,
  tenant: TenantScope,
  scenario: string,
): Promise<{ readonly shown: readonly EndedRun[]; readonly leftOut: number }> {
  const search = {
    route: "/exercises/search",
    idKey: SIMULATION.idKey,
    filters: oneOf("exercise_scenario", [scenario]),
    sorts: [{ property: SIMULATION.sortKey, direction: "desc" }],
  } as const;
  const all = new Map<string, UpstreamSimulation>();
  for await (const row of searchAll<UpstreamSimulation>(platform, tenant, search, MAX_RUNS))
    all.set(row.exercise_id, row);
  const measured = [...all.values()].filter((row) => row.exercise_global_score?.some(isMeasured) === true);
  const latest = (status: string) => measured.filter((row) => row.exercise_status === status).slice(0, MAX_SHOWN);
  // A search does not tell when a run ended.
  const shown = await inTurns([...latest("FINISHED"), ...latest("CANCELED")], async (row) => {
    const read = await readById<UpstreamSimulation>(platform, tenant, SIMULATION, row.exercise_id);
    return { row, endedAt: timeOf(read?.exercise_end_date) };
  });
  const at = ({ endedAt }: EndedRun): number => (endedAt === undefined ? 0 : timestampMs(endedAt));
  return { shown: shown.sort((a, b) => at(a) - at(b)), leftOut: all.size - shown.length };
}

const isMeasured = ({ distribution }: UpstreamResult): boolean => distribution?.some(({ value }) => value > 0) === true;

/** The scores of a run, one for each kind of expectation. */
export function scoresOf({ row, endedAt }: EndedRun): MessageInitShape<typeof ScenarioScoreSchema>[] {
  return (row.exercise_global_score ?? []).filter(isMeasured).map(({ type, distribution }) => ({
    kind: type.toLowerCase(),
    successPercent: percentOf(distribution ?? []),
    simulation: { id: row.exercise_id, name: row.exercise_name },
    canceled: row.exercise_status === "CANCELED",
    ...given({ endedAt }),
  }));
}

/** What was met of what was expected, to one decimal place and rounded up, as the platform does. */
function percentOf(distribution: NonNullable<UpstreamResult["distribution"]>): number {
  const met = distribution.find(({ id }) => id === "SUCCESS")?.value ?? 0;
  const all = distribution.reduce((sum, { value }) => sum + value, 0);
  return Math.ceil((met * 1_000) / all) / 10;
}

/** Scores of one kind stay in the order of their runs. */
export function byKind({ kind: a = "" }: { kind?: string }, { kind: b = "" }: { kind?: string }): number {
  return a < b ? -1 : a === b ? 0 : 1;
}
