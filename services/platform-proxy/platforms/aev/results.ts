import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExpectationResultSchema, TargetRefSchema } from "#proto/aev/v1/result_pb.js";
import { ExpectationKind, Outcome, TargetKind } from "#proto/aev/v1/result_pb.js";
import { enumOf } from "../../lib/words.js";

/** How a kind of expectation turned out, as the platform tells it. */
export interface UpstreamResult {
  readonly type: string;
  readonly avgResult: string;
  readonly distribution?: readonly { readonly id: string; readonly value: number }[] | null;
}

/** A target as the platform names it. */
export interface UpstreamTarget {
  readonly target_id: string;
  readonly target_name: string;
  readonly target_type: string;
}

const MAX_TARGETS = 10;

/** How a kind of expectation turned out, in our words. */
export function toResult(result: UpstreamResult): MessageInitShape<typeof ExpectationResultSchema> {
  return {
    kind: enumOf(ExpectationKind, result.type),
    outcome: enumOf(Outcome, result.avgResult),
    counts: (result.distribution ?? []).map(({ id, value }) => ({
      outcome: enumOf(Outcome, id),
      count: Math.max(0, Math.trunc(value)),
    })),
  };
}

const KIND_OF_TARGET: ReadonlyMap<string, TargetKind> = new Map([
  ["ASSETS", TargetKind.ENDPOINT],
  ["ASSETS_GROUPS", TargetKind.ASSET_GROUP],
  ["TEAMS", TargetKind.TEAM],
  ["PLAYERS", TargetKind.PLAYER],
  ["AGENT", TargetKind.AGENT],
]);

const MEMBER_OF_KIND: Readonly<Record<ExpectationKind, keyof OutcomesInit | undefined>> = {
  [ExpectationKind.UNSPECIFIED]: undefined,
  [ExpectationKind.PREVENTION]: "prevention",
  [ExpectationKind.DETECTION]: "detection",
  [ExpectationKind.VULNERABILITY]: "vulnerability",
  [ExpectationKind.HUMAN_RESPONSE]: "humanResponse",
};

type OutcomesInit = { prevention?: Outcome; detection?: Outcome; vulnerability?: Outcome; humanResponse?: Outcome };

/** How things turned out, a word a kind of expectation; nothing where nothing was expected. */
export function toOutcomes(results: readonly UpstreamResult[] | undefined): { outcomes?: OutcomesInit } {
  const outcomes: OutcomesInit = {};
  for (const { type, avgResult } of results ?? []) {
    const member = MEMBER_OF_KIND[enumOf(ExpectationKind, type) as ExpectationKind];
    if (member !== undefined) outcomes[member] = enumOf(Outcome, avgResult);
  }
  return Object.keys(outcomes).length === 0 ? {} : { outcomes };
}

/** The first ten targets. */
export function toTargets(
  targets: readonly UpstreamTarget[] | null | undefined,
): MessageInitShape<typeof TargetRefSchema>[] {
  return (targets ?? []).slice(0, MAX_TARGETS).map((target) => ({
    id: target.target_id,
    name: target.target_name,
    kind: KIND_OF_TARGET.get(target.target_type) ?? TargetKind.UNSPECIFIED,
  }));
}
