import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ExpectationSchema,
  ExpectationService,
  ExpectationStatus,
  ExpectationType,
} from "#proto/aev/v1/expectation_service_pb.js";
import { TargetKind } from "#proto/aev/v1/result_pb.js";
import { failedPrecondition, invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { objectOf, rowsOf } from "../../../lib/answers.js";
import { enumOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { havingOne, instantKey, listPage } from "../list.js";
import { memberOf, SIMULATION } from "../member.js";
import { type TenantScope, tenantOf } from "../tenant.js";

interface UpstreamExpectation {
  readonly inject_expectation_id: string;
  readonly inject_expectation_type: string;
  readonly inject_expectation_name: string | null;
  readonly inject_expectation_status: string | null;
  readonly inject_expectation_score: number | null;
  readonly inject_expectation_expected_score: number;
  readonly inject_expectation_created_at: string;
  readonly inject_expectation_inject: string | null;
  readonly inject_expectation_user: string | null;
  readonly inject_expectation_team: string | null;
  readonly inject_expectation_agent: string | null;
  readonly inject_expectation_asset: string | null;
  readonly inject_expectation_asset_group: string | null;
  readonly inject_expectation_results:
    | readonly {
        readonly sourceId: string;
        readonly sourceName: string | null;
        readonly result: string | null;
        readonly score: number | null;
      }[]
    | null;
}

const KEY = "inject_expectation_id";
/** What is judged by hand; the others are of what was executed. */
const TECHNICAL = new Set(["PREVENTION", "DETECTION", "VULNERABILITY"]);
/** The source of what is recorded by hand, in the platform's own interface too. */
const BY_HAND = { source_id: "ui", source_type: "ui" };

const { listExpectations, setExpectationResult, deleteExpectationResult } = ExpectationService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listExpectations, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamExpectation>(
      platform,
      tenant,
      {
        route: `/exercises/${r.simulationId.toLowerCase()}/expectations`,
        whole: () => readAll(platform, tenant, r.simulationId),
        idKey: KEY,
        having: [
          ...havingOne<UpstreamExpectation>((row) => row.inject_expectation_inject, [r.injectId ?? []].flat()),
          ...havingOne<UpstreamExpectation>((row) => String(statusOf(row)), r.statuses.map(String)),
        ],
        order: {
          sorts: [{ property: "inject_expectation_created_at", direction: "asc" }],
          keyOf: (row) => instantKey(row.inject_expectation_created_at),
        },
      },
      r,
    );
    return { expectations: page.rows.map(toExpectation), ...page.paging };
  }),

  unary(setExpectationResult, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row, all } = await oneOf(platform, tenant, r.simulationId, r.expectationId);
    const most = row.inject_expectation_expected_score;
    if (r.score > most) throw invalidArgument(`score: is ${r.score}, but the maximum for this expectation is ${most}`);
    needJudgeable(row, all, false);
    const changed = await platform.rest<UpstreamExpectation>({
      verb: "PUT",
      path: tenant.path(`/expectations/${row.inject_expectation_id}`),
      body: { ...BY_HAND, expectation_score: r.score, source_name: r.sourceName?.trim() ?? platform.caller.email },
    });
    objectOf(platform.server, changed, KEY);
    // That of an endpoint is worked out of those of its agents.
    const kept = await oneOf(platform, tenant, r.simulationId, r.expectationId);
    return { expectation: toExpectation(kept.row) };
  }),

  unary(deleteExpectationResult, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { row, all } = await oneOf(platform, tenant, r.simulationId, r.expectationId);
    const sources = (row.inject_expectation_results ?? []).map(({ sourceId }) => sourceId);
    if (!sources.includes(r.sourceId)) {
      const those = sources.length === 0 ? "it has no results" : `results have come from: ${sources.join(", ")}`;
      throw notFound(`source_id: this expectation has no result from ${r.sourceId}; ${those}`);
    }
    needJudgeable(row, all, true);
    const path = tenant.path(`/expectations/${row.inject_expectation_id}/${encodeURIComponent(r.sourceId)}/delete`);
    objectOf(platform.server, await platform.rest<unknown>({ verb: "PUT", path }), KEY);
    const kept = await oneOf(platform, tenant, r.simulationId, r.expectationId);
    return { expectation: toExpectation(kept.row) };
  }),
];

async function readAll(
  platform: Platform,
  tenant: TenantScope,
  simulationId: string,
): Promise<readonly UpstreamExpectation[]> {
  const { exercise_id } = await memberOf(platform, tenant, SIMULATION, simulationId);
  const path = tenant.path(`/exercises/${exercise_id}/expectations`);
  return rowsOf<UpstreamExpectation>(platform.server, await platform.rest<unknown>({ verb: "GET", path }), KEY);
}

/**
 * The platform takes an expectation by its id alone, of any tenant: it has to
 * be one of the simulation's.
 */
async function oneOf(platform: Platform, tenant: TenantScope, simulationId: string, id: string) {
  const all = await readAll(platform, tenant, simulationId);
  const row = all.find((one) => one.inject_expectation_id === id.toLowerCase());
  if (row === undefined) {
    throw notFound(
      `expectation_id: there is no expectation ${id} in simulation ${simulationId}; list_expectations lists them`,
    );
  }
  return { row, all };
}

/**
 * Whether the platform takes a result here: at the rest it fails without a word.
 *
 * @param removes a result of an endpoint with agents is those of its agents, which cannot be taken off at once.
 */
function needJudgeable(row: UpstreamExpectation, all: readonly UpstreamExpectation[], removes: boolean): void {
  if (!TECHNICAL.has(row.inject_expectation_type)) return;
  const { inject_expectation_asset: asset, inject_expectation_agent: agent } = row;
  if (asset === null && agent === null) {
    throw failedPrecondition(
      "expectation_id: OpenAEV derives the result of an asset group from its endpoints; use list_expectations to choose the expectation of an endpoint",
    );
  }
  const ofAgents = all.some(
    (one) =>
      one.inject_expectation_asset === asset &&
      one.inject_expectation_inject === row.inject_expectation_inject &&
      one.inject_expectation_agent !== null,
  );
  if (removes && agent === null && ofAgents) {
    throw failedPrecondition(
      "expectation_id: OpenAEV derives the result of this endpoint from its agents; use list_expectations to choose the expectation of an agent",
    );
  }
}

const statusOf = (row: UpstreamExpectation): ExpectationStatus =>
  enumOf(ExpectationStatus, row.inject_expectation_status);

function toExpectation(row: UpstreamExpectation): MessageInitShape<typeof ExpectationSchema> {
  const [target, targetKind] = targetOf(row);
  return {
    id: row.inject_expectation_id,
    type: enumOf(ExpectationType, row.inject_expectation_type),
    name: nameOf(row),
    status: statusOf(row),
    expectedScore: row.inject_expectation_expected_score,
    targetKind,
    ...(target !== null && { target: { id: target } }),
    ...(row.inject_expectation_inject !== null && { inject: { id: row.inject_expectation_inject } }),
    ...(row.inject_expectation_score !== null && { score: row.inject_expectation_score }),
    results: (row.inject_expectation_results ?? []).map(({ sourceId, sourceName, result, score }) => ({
      source: { id: sourceId, ...(sourceName !== null && { name: sourceName }) },
      result: result ?? "",
      ...(score !== null && { score }),
    })),
  };
}

/** Most are named like their type, which is told. */
function nameOf({ inject_expectation_name: name, inject_expectation_type: type }: UpstreamExpectation): string {
  return name === null || name.toLowerCase() === type.toLowerCase() ? "" : name;
}

/** The narrowest that it names. */
function targetOf(row: UpstreamExpectation): readonly [string | null, TargetKind] {
  const told = [
    [row.inject_expectation_agent, TargetKind.AGENT],
    [row.inject_expectation_asset, TargetKind.ENDPOINT],
    [row.inject_expectation_asset_group, TargetKind.ASSET_GROUP],
    [row.inject_expectation_user, TargetKind.PLAYER],
    [row.inject_expectation_team, TargetKind.TEAM],
  ] as const;
  return told.find(([id]) => id !== null) ?? [null, TargetKind.UNSPECIFIED];
}
