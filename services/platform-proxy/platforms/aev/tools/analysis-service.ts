import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { AnalysisService, Change, CoverageState } from "#proto/aev/v1/analysis_service_pb.js";
import { holds } from "../../../../shared/query-text.js";
import { invalidArgument } from "../../../../shared/rpc/errors.js";
import { unary } from "../../../binding.js";
import { type Pair, pairsOf, toInjectChange, toRun } from "../compared.js";
import { type Covered, coverageOf, gapsFirst, toCoverage } from "../coverage.js";
import { ASSET_GROUP, ENDPOINT } from "../kinds.js";
import { listPage, nameKey } from "../list.js";
import { memberOf, SIMULATION } from "../member.js";
import { needPhase } from "../phases.js";
import { injectsOf, ranInjects } from "../ran-injects.js";
import { tenantOf } from "../tenant.js";

/** Injects of one run that are compared. */
const MAX_INJECTS = 2_000;
const ALL_CHANGES = Object.values(Change).filter((one): one is Change => typeof one === "number" && one > 0);

/** How the tools of this service are answered. */
export const bindings = [
  unary(AnalysisService.method.inspectCoverage, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const after = r.testedAfter as Timestamp;
    if (timestampMs(after) > Date.now())
      throw invalidArgument("tested_after: is in the future; give a time in the past");
    if (r.killChainPhaseId !== undefined) await needPhase(platform, tenant, r.killChainPhaseId);
    if (r.endpointId !== undefined) await memberOf(platform, tenant, ENDPOINT, r.endpointId);
    if (r.assetGroupId !== undefined) await memberOf(platform, tenant, ASSET_GROUP, r.assetGroupId);
    const ran = await ranInjects(platform, tenant, { after, before: r.testedBefore });
    const { killChainPhaseId: phase, endpointId, assetGroupId } = r;
    const narrowed = { phase, endpointId, assetGroupId };
    const { covered, leftOut } = await coverageOf(platform, tenant, r.kind, ran.injects, narrowed);
    const text = r.query ?? "";
    const found = covered.filter(({ name, externalId = "" }) => holds(`${name}\n${externalId}`, text));
    const tested = found.filter(({ tests }) => tests > 0);
    const isShown = ({ tests }: Covered) => r.state === undefined || (r.state === CoverageState.TESTED) === tests > 0;
    const page = await listPage<Covered>(
      platform,
      tenant,
      {
        route: `coverage ${r.kind} ${timestampMs(after)} ${r.testedBefore && timestampMs(r.testedBefore)} ${r.state} ${phase} ${endpointId} ${assetGroupId} ${text}`,
        whole: async () => found.filter(isShown),
        idKey: "id",
        order: { sorts: [{ property: "name", direction: "asc" }], keyOf: gapsFirst },
      },
      r,
    );
    return {
      coverage: page.rows.map((one) => toCoverage(r.kind, one)),
      tested: tested.length,
      untested: found.length - tested.length,
      simulations: ran.simulations,
      atomicTests: ran.atomicTests,
      notLookedAt: [...ran.leftOut, ...leftOut],
      ...page.paging,
    };
  }),

  unary(AnalysisService.method.inspectSimulationComparison, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const before = await memberOf(platform, tenant, SIMULATION, r.simulationId);
    const after = await memberOf(platform, tenant, SIMULATION, r.otherSimulationId);
    const [was, is] = await Promise.all(
      [before, after].map(async ({ exercise_id: id, exercise_name: name }) => {
        const { rows, isCut } = await injectsOf(platform, tenant, `/exercises/${id}/injects/search`, MAX_INJECTS);
        if (isCut)
          throw invalidArgument(`simulation ${name} has more than ${MAX_INJECTS} injects, too many to compare`);
        return rows;
      }),
    );
    const pairs = pairsOf(was ?? [], is ?? []);
    const shown = new Set(r.changes.length > 0 ? r.changes : ALL_CHANGES.filter((change) => change !== Change.SAME));
    const page = await listPage<Pair>(
      platform,
      tenant,
      {
        route: `compared ${before.exercise_id} ${after.exercise_id} ${[...shown].sort()}`,
        whole: async () => pairs.filter(({ change }) => shown.has(change)),
        idKey: "key",
        order: { sorts: [{ property: "title", direction: "asc" }], keyOf: ({ title }) => nameKey(title) },
      },
      r,
    );
    const counts = ALL_CHANGES.map((change) => ({
      change,
      count: pairs.filter((pair) => pair.change === change).length,
    }));
    return {
      before: toRun(before),
      after: toRun(after),
      counts: counts.filter(({ count }) => count > 0),
      injects: page.rows.map(toInjectChange),
      ...page.paging,
    };
  }),
];
