import type { MessageInitShape } from "@bufbuild/protobuf";
import { Change, type ComparedRunSchema, type InjectChangeSchema } from "#proto/aev/v1/analysis_service_pb.js";
import { ExpectationKind } from "#proto/aev/v1/result_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf } from "../../lib/words.js";
import { toOutcomes, type UpstreamResult } from "./results.js";
import type { UpstreamInjectResult, UpstreamSimulation } from "./upstream.js";

/** An inject in two runs; a run may lack it. */
export interface Pair {
  readonly key: string;
  readonly title: string;
  readonly change: Change;
  readonly before: UpstreamInjectResult | undefined;
  readonly after: UpstreamInjectResult | undefined;
}

/**
 * The injects of two runs in pairs. A run copies the injects of its scenario
 * under new ids, so they are matched by title and action; of several alike
 * those that changed last go together.
 */
export function pairsOf(
  before: readonly UpstreamInjectResult[],
  after: readonly UpstreamInjectResult[],
): readonly Pair[] {
  const others = new Map<string, UpstreamInjectResult[]>();
  for (const row of after) {
    const alike = others.get(sameAs(row));
    if (alike === undefined) others.set(sameAs(row), [row]);
    else alike.push(row);
  }
  const pairs = before.map((row) => pair(row, others.get(sameAs(row))?.shift()));
  return [...pairs, ...[...others.values()].flat().map((row) => pair(undefined, row))];
}

const sameAs = (row: UpstreamInjectResult): string =>
  JSON.stringify([row.inject_title.toLowerCase(), row.inject_injector_contract?.injector_contract_id]);

function pair(before: UpstreamInjectResult | undefined, after: UpstreamInjectResult | undefined): Pair {
  const { inject_id: key, inject_title: title } = (before ?? after) as UpstreamInjectResult;
  return { key, title, change: changeOf(before, after), before, after };
}

/** Outcomes that can be compared. */
const RANKS: ReadonlyMap<string, number> = new Map([
  ["FAILED", 0],
  ["PARTIAL", 1],
  ["SUCCESS", 2],
]);

function changeOf(before: UpstreamInjectResult | undefined, after: UpstreamInjectResult | undefined): Change {
  if (before === undefined) return Change.ONLY_AFTER;
  if (after === undefined) return Change.ONLY_BEFORE;
  const [was, is] = [ranksOf(before), ranksOf(after)];
  const both = [...was].flatMap(([type, rank]) => {
    const now = is.get(type);
    return rank === undefined || now === undefined ? [] : [now - rank];
  });
  const [better, worse] = [both.some((step) => step > 0), both.some((step) => step < 0)];
  if (better && worse) return Change.MIXED;
  if (better || worse) return better ? Change.BETTER : Change.WORSE;
  return both.length === Math.max(was.size, is.size) ? Change.SAME : Change.UNDECIDED;
}

/** The rank of each kind of expectation; undefined where it is not decided. */
function ranksOf({ inject_expectation_results: results }: UpstreamInjectResult): Map<string, number | undefined> {
  return new Map((results ?? []).map(({ type, avgResult }) => [type, RANKS.get(avgResult)]));
}

/** A pair in our words. */
export function toInjectChange({ title, change, before, after }: Pair): MessageInitShape<typeof InjectChangeSchema> {
  const [was, is] = [before, after].map((row) => toOutcomes(row?.inject_expectation_results).outcomes);
  return {
    title,
    change,
    ...given({ beforeInject: refOf(before), before: was, afterInject: refOf(after), after: is }),
  };
}

const refOf = (row: UpstreamInjectResult | undefined) => (row === undefined ? undefined : { id: row.inject_id });

/** A run in our words. */
export function toRun(row: UpstreamSimulation): MessageInitShape<typeof ComparedRunSchema> {
  return {
    simulation: { id: row.exercise_id, name: row.exercise_name },
    status: enumOf(SimulationStatus, row.exercise_status),
    scores: (row.exercise_global_score ?? []).flatMap(toScore),
    ...(row.exercise_scenario != null && { scenario: { id: row.exercise_scenario } }),
    ...given({ startedAt: timeOf(row.exercise_start_date) }),
  };
}

function toScore({ type, distribution }: UpstreamResult) {
  const all = (distribution ?? []).reduce((sum, { value }) => sum + value, 0);
  const met = (distribution ?? []).find(({ id }) => id === "SUCCESS")?.value ?? 0;
  return all === 0 ? [] : [{ kind: enumOf(ExpectationKind, type), met, all }];
}
