import { AtomicTestOrder, AtomicTestService } from "#proto/aev/v1/atomic_test_service_pb.js";
import { InjectRunResultSchema } from "#proto/aev/v1/execution_pb.js";
import { InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { failedPrecondition } from "../../../../shared/rpc/errors.js";
import { serverStream, unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { deleteAndCheck, isGone, stillThere } from "../delete.js";
import { ATOMIC_TEST, contractName, readBack, statusOf, testOf, toInjectDetails } from "../inject.js";
import { contentOf, fieldsOf } from "../inject-fields.js";
import { contractOf, type UpstreamContractDetails } from "../injector-contract.js";
import { labelIds } from "../labels.js";
import { havingOne, instantKey, listPage, type Order, withinOf } from "../list.js";
import { toOutcomes, toResult, type UpstreamResult } from "../results.js";
import { runInject } from "../run-inject.js";
import { targetIds } from "../targets.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import type { UpstreamInjectResult } from "../upstream.js";

type Row = UpstreamInjectResult & { readonly inject_updated_at: string };

interface Written {
  readonly inject_id: string;
  readonly inject_ready?: boolean | null;
}

const BY_CHANGE: Order<Row> = {
  sorts: [{ property: "inject_updated_at", direction: "desc" }],
  keyOf: (row) => instantKey(row.inject_updated_at),
};
/** Runs, which the platform cannot sort by: a test that never ran has none. */
const BY_RUN: Order<Row> = {
  sorts: BY_CHANGE.sorts,
  keyOf: (row) => instantKey(row.inject_status?.tracking_sent_date),
  isOurs: true,
};
/** Rows are large: each has the whole contract of its inject. */
const PIECE = 100;

const {
  listAtomicTests,
  getAtomicTest,
  createAtomicTest,
  updateAtomicTest,
  launchAtomicTest,
  relaunchAtomicTest,
  deleteAtomicTest,
} = AtomicTestService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listAtomicTests, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<Row>(
      platform,
      tenant,
      {
        route: `${ATOMIC_TEST.route}/search`,
        idKey: "inject_id",
        query: r.query,
        textsOf: (row) => [row.inject_title],
        having: havingOne(
          statusWord,
          r.statuses.map((status) => InjectStatus[status] as string),
        ),
        within: withinOf((row) => row.inject_status?.tracking_sent_date, r.ranAfter, r.ranBefore),
        order: r.orderBy === AtomicTestOrder.RAN ? BY_RUN : BY_CHANGE,
        piece: PIECE,
      },
      r,
    );
    const isByRun = r.orderBy === AtomicTestOrder.RAN || r.ranAfter !== undefined || r.ranBefore !== undefined;
    return {
      atomicTests: page.rows.map((row) => ({
        id: row.inject_id,
        title: row.inject_title,
        type: row.inject_type ?? "",
        action: contractName(row.inject_injector_contract),
        status: statusOf(row.inject_status?.status_name),
        ...toOutcomes(row.inject_expectation_results),
        targetCount: row.inject_targets?.length ?? 0,
        ...given({
          updatedAt: timeOf(row.inject_updated_at),
          // A row is short unless runs are asked for.
          ranAt: isByRun ? timeOf(row.inject_status?.tracking_sent_date) : undefined,
        }),
      })),
      ...page.paging,
    };
  }),

  unary(getAtomicTest, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await testOf(platform, tenant, r.atomicTestId);
    const path = tenant.path(`${ATOMIC_TEST.route}/${row.inject_id}`);
    const overview = await platform.rest<{ readonly inject_expectation_results?: readonly UpstreamResult[] | null }>({
      verb: "GET",
      path,
    });
    return {
      ...(await shown(platform, tenant, row.inject_id)),
      results: (overview.inject_expectation_results ?? []).map(toResult),
    };
  }),

  unary(createAtomicTest, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const contract = await contractOf(platform, tenant, r.injectorContractId);
    needAtomic(contract);
    const targets = await targetIds(platform, tenant, r);
    const written = await platform.rest<Written>({
      verb: "POST",
      path: tenant.path(ATOMIC_TEST.route),
      body: {
        inject_title: r.title.trim(),
        inject_description: r.description ?? null,
        inject_injector_contract: contract.injector_contract_id,
        inject_content: contentOf(contract, r.content),
        inject_assets: targets.endpointIds,
        inject_asset_groups: targets.assetGroupIds,
        inject_teams: targets.teamIds,
        inject_tags: await labelIds(platform, tenant, r.labels),
        inject_documents: [],
        inject_all_teams: false,
      },
    });
    return answered(platform, tenant, written);
  }),

  writingBack(
    updateAtomicTest,
    (r) => [r.atomicTestId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const row = await testOf(platform, tenant, r.atomicTestId);
      if (r.injectorContractId !== undefined) needAtomic(await contractOf(platform, tenant, r.injectorContractId));
      const fields = await fieldsOf(platform, tenant, row, { ...r, delaySeconds: undefined, allTeams: undefined });
      const path = tenant.path(`${ATOMIC_TEST.route}/${row.inject_id}`);
      return answered(platform, tenant, await platform.rest<Written>({ verb: "PUT", path, body: testFields(fields) }));
    },
  ),

  serverStream(launchAtomicTest, InjectRunResultSchema, async function* (r, platform) {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await testOf(platform, tenant, r.atomicTestId);
    return yield* runInject(platform, tenant, row, async () => {
      const path = tenant.path(`${ATOMIC_TEST.route}/${row.inject_id}/launch`);
      const started = await platform.rest<unknown>({ verb: "POST", path });
      return objectOf<Written>(platform.server, started, ATOMIC_TEST.idKey).inject_id;
    });
  }),

  serverStream(relaunchAtomicTest, InjectRunResultSchema, async function* (r, platform) {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await testOf(platform, tenant, r.atomicTestId);
    return yield* runInject(platform, tenant, row, async () => {
      const path = tenant.path(`${ATOMIC_TEST.route}/${row.inject_id}/relaunch`);
      const started = await platform.rest<unknown>({ verb: "POST", path });
      return objectOf<Written>(platform.server, started, ATOMIC_TEST.idKey).inject_id;
    });
  }),

  unary(deleteAtomicTest, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const row = await testOf(platform, tenant, r.atomicTestId);
    const path = tenant.path(`${ATOMIC_TEST.route}/${row.inject_id}`);
    const readPath = tenant.path(`/injects/${row.inject_id}`);
    if (!(await deleteAndCheck(platform, path, readPath)) && !(await isGone(platform, readPath))) {
      throw stillThere("atomic test");
    }
    return { deleted: { id: row.inject_id, name: row.inject_title } };
  }),
];

const statusWord = (row: Row): string => InjectStatus[statusOf(row.inject_status?.status_name)] as string;

function needAtomic(contract: UpstreamContractDetails): void {
  if (contract.injector_contract_atomic_testing) return;
  throw failedPrecondition(
    `injector_contract_id: ${contract.injector_contract_id} (${contractName(contract)}) cannot run as an atomic test; get_injector_contract shows whether an injector contract can`,
  );
}

/** An atomic test has no time and waits for nothing. */
function testFields(fields: Record<string, unknown>): Record<string, unknown> {
  const left = new Set([
    "inject_depends_duration",
    "inject_depends_on",
    "inject_country",
    "inject_city",
    "inject_enabled",
  ]);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !left.has(name)));
}

async function shown(platform: Platform, tenant: TenantScope, id: string) {
  const row = await readBack(platform, tenant, id);
  return { atomicTest: await toInjectDetails(platform, tenant, { row, parent: { of: "test", id } }) };
}

async function answered(platform: Platform, tenant: TenantScope, answer: Written) {
  const { inject_id, inject_ready } = objectOf<Written>(platform.server, answer, ATOMIC_TEST.idKey);
  const lacks = inject_ready === false ? ["targets or content that its action needs; see get_injector_contract"] : [];
  return { ...(await shown(platform, tenant, inject_id)), lacks };
}
