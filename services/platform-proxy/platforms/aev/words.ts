import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ExpectationResultSchema, TargetRefSchema } from "#proto/aev/v1/result_pb.js";
import { ExpectationKind, Outcome, TargetKind } from "#proto/aev/v1/result_pb.js";

/** How a kind of expectation turned out, as the platform tells it. */
export interface UpstreamResult {
  readonly type: string;
  readonly avgResult: string;
  readonly distribution?: readonly { readonly id: string; readonly label: string; readonly value: number }[] | null;
}

export interface UpstreamTarget {
  readonly target_id: string;
  readonly target_name: string;
  readonly target_type: string;
}

const MAX_TARGETS = 10;

/** The enum value that the platform's word means; 0 for a word not known here. */
export function enumOf<E extends Record<string, string | number>>(values: E, word: string | null | undefined): number {
  const value = word == null ? undefined : values[word.toUpperCase()];
  return typeof value === "number" ? value : 0;
}

/** An instant as the platform writes it, with up to nanoseconds; undefined for none. */
export function timeOf(instant: string | null | undefined): Timestamp | undefined {
  const ms = instant == null ? Number.NaN : Date.parse(instant);
  return Number.isNaN(ms) ? undefined : timestampFromMs(ms);
}

/** The fields of an object that are there: for optional fields of a message. */
export function given<T extends Record<string, unknown>>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], null | undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as never;
}

export function toResult(result: UpstreamResult): MessageInitShape<typeof ExpectationResultSchema> {
  return {
    kind: enumOf(ExpectationKind, result.type),
    outcome: enumOf(Outcome, result.avgResult),
    counts: (result.distribution ?? []).map(({ id, label, value }) => ({
      outcome: enumOf(Outcome, id),
      label,
      count: Math.max(0, Math.trunc(value)),
    })),
  };
}

const KIND_OF_TARGET: Readonly<Record<string, TargetKind>> = {
  ASSETS: TargetKind.ENDPOINT,
  ASSETS_GROUPS: TargetKind.ASSET_GROUP,
  TEAMS: TargetKind.TEAM,
  PLAYERS: TargetKind.PLAYER,
  AGENT: TargetKind.AGENT,
};

/** The first ten targets. */
export function toTargets(
  targets: readonly UpstreamTarget[] | null | undefined,
): MessageInitShape<typeof TargetRefSchema>[] {
  return (targets ?? []).slice(0, MAX_TARGETS).map((target) => ({
    id: target.target_id,
    name: target.target_name,
    kind: KIND_OF_TARGET[target.target_type] ?? TargetKind.UNSPECIFIED,
  }));
}
