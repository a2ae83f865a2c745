import type { Json } from "./platform.js";
import type { Seen } from "./seen.js";

// What the expected answers of the ten jobs are computed from: rows as the platform
// shows them to a person, unfiltered.

export const sorted = <T>(values: Iterable<T>): T[] => [...values].sort();

/** The part of a name that says which run of the tests it belongs to is cut off. */
export const plain = (name: string, run: string): string => name.replaceAll(new RegExp(`[ -.]?${run}`, "g"), "");

/** A simulation with its injects. */
export interface Run {
  readonly row: Json;
  readonly injects: readonly Json[];
}

/** All simulations with their injects. */
export async function runsSeen(seen: Seen): Promise<Run[]> {
  const rows = await seen.of("simulation");
  const read = rows.map(async (row): Promise<Run> => {
    const injects = await seen.below(`/exercises/${row.exercise_id}/injects/search`, "inject_id");
    return { row, injects: injects ?? [] };
  });
  return Promise.all(read);
}

const NOT_BEGUN = ["DRAFT", "QUEUING"];

/** When an inject began; NaN if it has not. */
export const begun = ({ inject_status: status }: Json): number =>
  status?.tracking_sent_date == null || NOT_BEGUN.includes(status.status_name)
    ? Number.NaN
    : Date.parse(status.tracking_sent_date);

export const isError = ({ inject_status: status }: Json): boolean => status?.status_name === "ERROR";

const targetsOf = (inject: Json, type: string): string[] =>
  (inject.inject_targets ?? []).flatMap((one: Json) => (one.target_type === type ? [one.target_id] : []));

/** The endpoints that each inject was to reach, by itself or by its groups. */
export async function reachSeen(seen: Seen): Promise<(inject: Json) => ReadonlySet<string>> {
  const members = new Map<string, string[]>();
  for (const { asset_group_id: id } of await seen.of("assetGroup")) {
    const rows = (await seen.below(`/asset_groups/${id}/assets/search`, "asset_id")) ?? [];
    members.set(
      id,
      rows.map((row) => row.asset_id),
    );
  }
  return (inject) =>
    new Set([
      ...targetsOf(inject, "ASSETS"),
      ...(inject.inject_assets ?? []),
      ...[...targetsOf(inject, "ASSETS_GROUPS"), ...(inject.inject_asset_groups ?? [])].flatMap(
        (id) => members.get(id) ?? [],
      ),
    ]);
}

/** The actions of injects, by id. */
export async function actionsSeen(
  seen: Seen,
  need: (path: string, body: object) => Promise<Json>,
): Promise<Map<string, Json>> {
  const { content } = await need(seen.at("/injector_contracts/search"), { size: 1_000, include_full_details: true });
  return new Map(content.map((one: Json) => [one.injector_contract_id, one]));
}

/** The outcome of an inject for a kind of expectation, as the platform words it. */
export const outcomeOf = (inject: Json, type: string): string | undefined =>
  (inject.inject_expectation_results ?? []).find((one: Json) => one.type === type)?.avgResult;
