import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type InjectDetailsSchema, InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { failedPrecondition, notFound } from "../../../shared/rpc/errors.js";
import { objectOf } from "../../lib/answers.js";
import { given } from "../../lib/fields.js";
import { timeOf } from "../../lib/time.js";
import { enumOf } from "../../lib/words.js";
import type { Platform } from "../../platform.js";
import { labelNames } from "./labels.js";
import { type Kind, memberOf, named, readById, SCENARIO, SIMULATION } from "./member.js";
import { searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamScenario, UpstreamSimulation } from "./upstream.js";

/** The contract of an inject, as a read of it has it. */
export interface UpstreamContractRead {
  readonly injector_contract_id: string;
  readonly injector_contract_labels: Readonly<Record<string, string>> | null;
}

/** An inject as a read by id tells it. */
export interface UpstreamInjectRead {
  readonly inject_id: string;
  readonly inject_title: string;
  readonly inject_description: string | null;
  readonly inject_type: string | null;
  readonly inject_scenario: string | null;
  readonly inject_exercise: string | null;
  readonly inject_enabled: boolean;
  readonly inject_all_teams: boolean;
  readonly inject_country: string | null;
  readonly inject_city: string | null;
  readonly inject_content: JsonObject | null;
  readonly inject_depends_duration: number;
  readonly inject_depends_on: readonly UpstreamDependency[] | null;
  readonly inject_injector: string | null;
  readonly inject_injector_contract: UpstreamContractRead | null;
  readonly inject_status: { readonly status_name?: string | null } | null;
  readonly inject_trigger_now_date?: string | null;
  readonly inject_tags: readonly string[] | null;
  readonly inject_teams: readonly string[] | null;
  readonly inject_assets: readonly string[] | null;
  readonly inject_asset_groups: readonly string[] | null;
  readonly inject_documents: readonly UpstreamInjectDocument[] | null;
  readonly inject_attack_patterns?: readonly (string | { readonly attack_pattern_id: string })[] | null;
  readonly inject_updated_at: string;
}

/** That an inject waits for another. */
export interface UpstreamDependency {
  readonly dependency_relationship: {
    readonly inject_parent_id: string;
    readonly inject_children_id: string;
  };
  readonly dependency_condition: unknown;
}

/** A document that an inject uses. */
export interface UpstreamInjectDocument {
  readonly document_id: string;
  readonly document_attached: boolean;
  readonly document_name?: string | null;
}

/** An inject, and what it is a step of. */
export interface Inject {
  readonly row: UpstreamInjectRead;
  readonly parent: InjectParent;
}

/** What an inject is a step of; an atomic test stands by itself. */
export type InjectParent =
  | { readonly of: "scenario"; readonly id: string; readonly row: UpstreamScenario }
  | { readonly of: "simulation"; readonly id: string; readonly row: UpstreamSimulation }
  | { readonly of: "test"; readonly id: string };

const INJECT: Kind<UpstreamInjectRead> = {
  noun: "inject",
  route: "/injects",
  idKey: "inject_id",
  sortKey: "inject_updated_at",
  filters: () => [],
};

/** Atomic tests, which are injects without a scenario or simulation; only a search knows them apart. */
export const ATOMIC_TEST: Kind<UpstreamInjectRead> = {
  noun: "atomic test",
  route: "/atomic-testings",
  idKey: "inject_id",
  sortKey: "inject_updated_at",
  filters: (row) => named("inject_title", row.inject_title),
};

const MAX_NAMESAKES = 5_000;

/**
 * Reads an inject, and confirms that what it is a step of lies in the tenant.
 * The platform reads an inject of any tenant by its id, and changes one through
 * a simulation that is not its own.
 *
 * @throws ConnectError not_found, or permission_denied where the caller may not read it.
 */
export async function injectOf(platform: Platform, tenant: TenantScope, id: string): Promise<Inject> {
  const row = await readById<UpstreamInjectRead>(platform, tenant, INJECT, id);
  const parent = row === undefined ? undefined : await parentOf(platform, tenant, row).catch(hiddenAsAbsent);
  if (row === undefined || parent === undefined) throw notFound(`there is no inject ${id} in tenant ${tenant.name}`);
  return { row, parent };
}

/**
 * Reads an inject of a scenario or simulation, for tools that change one.
 *
 * @throws ConnectError failed_precondition for an atomic test.
 */
export async function stepOf(
  platform: Platform,
  tenant: TenantScope,
  id: string,
): Promise<Inject & { readonly parent: Exclude<InjectParent, { readonly of: "test" }> }> {
  const { row, parent } = await injectOf(platform, tenant, id);
  if (parent.of === "test") {
    throw failedPrecondition(
      `inject_id: ${row.inject_id} is an atomic test; use the tools for atomic tests to change or run it`,
    );
  }
  return { row, parent };
}

/**
 * Reads an atomic test with its content.
 *
 * @throws ConnectError not_found for what is none, or permission_denied.
 */
export async function testOf(platform: Platform, tenant: TenantScope, id: string): Promise<UpstreamInjectRead> {
  const row = await readById<UpstreamInjectRead>(platform, tenant, INJECT, id);
  if (row === undefined || !(await isTestOf(platform, tenant, row)))
    throw notFound(`there is no atomic test ${id} in tenant ${tenant.name}`);
  return row;
}

async function parentOf(
  platform: Platform,
  tenant: TenantScope,
  row: UpstreamInjectRead,
): Promise<InjectParent | undefined> {
  if (row.inject_scenario != null) {
    const scenario = await memberOf(platform, tenant, SCENARIO, row.inject_scenario);
    return { of: "scenario", id: scenario.scenario_id, row: scenario };
  }
  if (row.inject_exercise != null) {
    const simulation = await memberOf(platform, tenant, SIMULATION, row.inject_exercise);
    return { of: "simulation", id: simulation.exercise_id, row: simulation };
  }
  return (await isTestOf(platform, tenant, row)) ? { of: "test", id: row.inject_id } : undefined;
}

/** The routes of atomic tests take any inject's id, so that only their search tells which are. */
async function isTestOf(platform: Platform, tenant: TenantScope, row: UpstreamInjectRead): Promise<boolean> {
  if (row.inject_scenario != null || row.inject_exercise != null) return false;
  const search = {
    route: `${ATOMIC_TEST.route}/search`,
    idKey: ATOMIC_TEST.idKey,
    filters: ATOMIC_TEST.filters(row),
    sorts: [{ property: ATOMIC_TEST.sortKey, direction: "desc" }],
  } as const;
  for await (const one of searchAll<{ readonly inject_id: string }>(platform, tenant, search, MAX_NAMESAKES))
    if (one.inject_id === row.inject_id) return true;
  return false;
}

/** What is not in the tenant is said of the inject alone: its parent's id is the other tenant's. */
function hiddenAsAbsent(error: unknown): undefined {
  if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
  throw error;
}

/** The name of a contract in the reader's language, English where there is it. */
export function contractName(contract: Pick<UpstreamContractRead, "injector_contract_labels"> | null): string {
  const labels = contract?.injector_contract_labels ?? {};
  return labels.en ?? Object.values(labels)[0] ?? "";
}

/** An inject in our words. */
export async function toInjectDetails(
  platform: Platform,
  tenant: TenantScope,
  { row, parent }: Inject,
): Promise<MessageInitShape<typeof InjectDetailsSchema>> {
  const names = await labelNames(platform, tenant, [row.inject_tags]);
  const refs = (ids: readonly string[] | null | undefined) => [...new Set(ids ?? [])].map((id) => ({ id }));
  const techniques = (row.inject_attack_patterns ?? []).map((one) =>
    typeof one === "string" ? one : one.attack_pattern_id,
  );
  const contract = row.inject_injector_contract;
  return {
    id: row.inject_id,
    title: row.inject_title,
    description: row.inject_description ?? "",
    type: row.inject_type ?? "",
    labels: names(row.inject_tags),
    endpoints: refs(row.inject_assets),
    assetGroups: refs(row.inject_asset_groups),
    teams: refs(row.inject_teams),
    allTeams: row.inject_all_teams === true,
    attackPatterns: refs(techniques),
    documents: (row.inject_documents ?? []).map((one) => ({
      id: one.document_id,
      ...given({ name: one.document_name }),
    })),
    after: (row.inject_depends_on ?? []).map((one) => ({ id: one.dependency_relationship.inject_parent_id })),
    ...(row.inject_content !== null && { content: row.inject_content }),
    ...(contract !== null && { action: { id: contract.injector_contract_id, name: contractName(contract) } }),
    ...(parent.of === "scenario" && { scenario: { id: parent.id, name: parent.row.scenario_name } }),
    ...(parent.of === "simulation" && { simulation: { id: parent.id, name: parent.row.exercise_name } }),
    ...(parent.of !== "test" && { delaySeconds: Math.max(0, row.inject_depends_duration ?? 0) }),
    ...(parent.of !== "test" && { enabled: row.inject_enabled }),
    ...(parent.of !== "scenario" && { status: statusOf(row.inject_status?.status_name) }),
    ...given({ updatedAt: timeOf(row.inject_updated_at) }),
  };
}

/** How far an inject has come; one without a status has not begun. */
export function statusOf(word: string | null | undefined): InjectStatus {
  return enumOf(InjectStatus, word ?? "DRAFT");
}

/** Reads an inject that was just written, as the platform keeps it. */
export async function readBack(platform: Platform, tenant: TenantScope, id: string): Promise<UpstreamInjectRead> {
  const row = await platform.rest<UpstreamInjectRead>({ verb: "GET", path: tenant.path(`/injects/${id}`) });
  return objectOf<UpstreamInjectRead>(platform.server, row, INJECT.idKey);
}
