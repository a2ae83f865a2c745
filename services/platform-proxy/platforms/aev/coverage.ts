import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CoverageKind, type CoverageSchema } from "#proto/aev/v1/analysis_service_pb.js";
import { inTurns } from "../../lib/in-turns.js";
import type { Platform } from "../../platform.js";
import type { RanInject } from "./ran-injects.js";
import { type Search, searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamAssetGroup, UpstreamAttackPattern } from "./upstream-content.js";

// What was tested is told from the injects that ran: by their targets, and by
// the techniques of their actions.

/** Something that can be tested. */
interface Subject {
  readonly id: string;
  readonly name: string;
  readonly externalId?: string;
  /** The endpoints of a group. */
  readonly members?: readonly string[];
}

/** A subject, and how it was tested. */
export interface Covered extends Subject {
  readonly tests: number;
  readonly errors: number;
  readonly prevented: number;
  readonly detected: number;
  /** Of the last test, in milliseconds. */
  readonly lastAt: number | undefined;
  readonly membersTested: number | undefined;
}

const MAX_SUBJECTS = 10_000;
/** Groups whose endpoints are read for one answer. */
const MAX_GROUPS = 200;

/** What an answer is limited to. */
export interface Narrowed {
  readonly phase: string | undefined;
  /** Where techniques were tested. */
  readonly endpointId: string | undefined;
  /** Whose endpoints are told of, or where techniques were tested. */
  readonly assetGroupId: string | undefined;
}

/** What there is of a kind, and how it was tested by the injects that ran. */
export async function coverageOf(
  platform: Platform,
  tenant: TenantScope,
  kind: CoverageKind,
  injects: readonly RanInject[],
  { phase, endpointId, assetGroupId }: Narrowed,
): Promise<{ readonly covered: readonly Covered[]; readonly leftOut: readonly string[] }> {
  const inGroup = assetGroupId === undefined ? undefined : await membersOf(platform, tenant, assetGroupId);
  const wanted = endpointId === undefined ? inGroup : new Set([endpointId.toLowerCase()]);
  if (kind === CoverageKind.ATTACK_PATTERN) {
    const techniques = await techniquesOf(platform, tenant, phase);
    const none: ReadonlyMap<string, string[]> = new Map();
    const byAction = injects.length === 0 ? none : await techniquesByAction(platform, tenant);
    const idsOf = ({ row }: RanInject): readonly string[] =>
      byAction.get(row.inject_injector_contract?.injector_contract_id ?? "") ?? [];
    if (wanted === undefined) return { covered: counted(techniques, injects, idsOf), leftOut: [] };
    const { reached, leftOut } = await reachOf(platform, tenant, injects, false);
    const there = injects.filter((inject) => reached(inject).some((id) => wanted.has(id)));
    return { covered: counted(techniques, there, idsOf), leftOut };
  }
  const { groups, reached, ofGroups, leftOut } = await reachOf(
    platform,
    tenant,
    injects,
    kind !== CoverageKind.ENDPOINT,
  );
  if (kind === CoverageKind.ENDPOINT) {
    const endpoints = await endpointsOf(platform, tenant);
    const shown = endpoints.filter(({ id }) => wanted?.has(id) !== false);
    return { covered: counted(shown, injects, reached), leftOut };
  }
  const tested = new Set(injects.filter(({ isError }) => !isError).flatMap(reached));
  return { covered: counted(groups, injects, ofGroups, tested), leftOut };
}

/** The endpoints that each inject was to reach: by itself, or as members of its groups. */
async function reachOf(platform: Platform, tenant: TenantScope, injects: readonly RanInject[], withAllGroups: boolean) {
  const direct = (type: string) => (inject: RanInject) =>
    (inject.row.inject_targets ?? []).flatMap((one) => (one.target_type === type ? [one.target_id] : []));
  const [ofGroups, ofEndpoints] = [direct("ASSETS_GROUPS"), direct("ASSETS")];
  const addressed = new Set(injects.flatMap(ofGroups));
  const groups = await groupsOf(platform, tenant, withAllGroups ? undefined : addressed);
  const leftOut =
    groups.left === 0 ? [] : [`the endpoints of ${groups.left} asset groups: at most ${MAX_GROUPS} are read`];
  const members = new Map(groups.read.map((group) => [group.id, group.members ?? []]));
  const reached = (inject: RanInject) => [
    ...new Set([...ofEndpoints(inject), ...ofGroups(inject).flatMap((id) => members.get(id) ?? [])]),
  ];
  return { groups: groups.read, reached, ofGroups, leftOut };
}

async function membersOf(platform: Platform, tenant: TenantScope, id: string): Promise<ReadonlySet<string>> {
  const { read } = await groupsOf(platform, tenant, new Set([id.toLowerCase()]));
  return new Set(read.flatMap(({ members }) => members ?? []));
}

/** Counts for each subject the injects that name it. */
function counted(
  subjects: readonly Subject[],
  injects: readonly RanInject[],
  idsOf: (inject: RanInject) => readonly string[],
  testedEndpoints?: ReadonlySet<string>,
): Covered[] {
  const byId = new Map<string, RanInject[]>();
  for (const inject of injects) {
    for (const id of new Set(idsOf(inject))) {
      const own = byId.get(id);
      if (own === undefined) byId.set(id, [inject]);
      else own.push(inject);
    }
  }
  return subjects.map((subject) => {
    const own = byId.get(subject.id) ?? [];
    const tests = own.filter(({ isError }) => !isError);
    const met = (type: string) => tests.filter(({ row }) => isMet(row.inject_expectation_results, type)).length;
    return {
      ...subject,
      tests: tests.length,
      errors: own.length - tests.length,
      prevented: met("PREVENTION"),
      detected: met("DETECTION"),
      lastAt: tests.length === 0 ? undefined : Math.max(...tests.map(({ at }) => at)),
      membersTested:
        testedEndpoints === undefined ? undefined : subject.members?.filter((id) => testedEndpoints.has(id)).length,
    };
  });
}

function isMet(results: readonly { readonly type: string; readonly avgResult: string }[] | null, type: string) {
  return results?.some((result) => result.type === type && result.avgResult === "SUCCESS") === true;
}

async function all<Row>(platform: Platform, tenant: TenantScope, search: Search): Promise<Row[]> {
  const found = new Map<unknown, Row>();
  for await (const row of searchAll<Row & Record<string, unknown>>(platform, tenant, search, MAX_SUBJECTS)) {
    found.set(row[search.idKey], row);
  }
  return [...found.values()];
}

async function endpointsOf(platform: Platform, tenant: TenantScope): Promise<Subject[]> {
  const rows = await all<{ readonly asset_id: string; readonly asset_name: string }>(platform, tenant, {
    route: "/endpoints/search",
    idKey: "asset_id",
    sorts: [
      { property: "asset_name", direction: "asc" },
      { property: "endpoint_hostname", direction: "asc" },
      { property: "asset_external_reference", direction: "asc" },
    ],
  });
  return rows.map(({ asset_id: id, asset_name: name }) => ({ id, name }));
}

/** Groups with their endpoints: all, or only some. */
async function groupsOf(platform: Platform, tenant: TenantScope, only: ReadonlySet<string> | undefined) {
  if (only?.size === 0) return { read: [], left: 0 };
  const rows = await all<UpstreamAssetGroup>(platform, tenant, {
    route: "/asset_groups/search",
    idKey: "asset_group_id",
    sorts: [{ property: "asset_group_name", direction: "asc" }],
  });
  const wanted = rows.filter(({ asset_group_id: id }) => only?.has(id) !== false);
  const read = await inTurns(wanted.slice(0, MAX_GROUPS), async ({ asset_group_id: id, asset_group_name: name }) => {
    const endpoints = await all<{ readonly asset_id: string }>(platform, tenant, {
      route: `/asset_groups/${id}/assets/search`,
      idKey: "asset_id",
      sorts: [{ property: "asset_name", direction: "asc" }],
    });
    return { id, name, members: endpoints.map(({ asset_id }) => asset_id) };
  });
  const bare = wanted.slice(MAX_GROUPS).map(({ asset_group_id: id, asset_group_name: name }) => ({ id, name }));
  return { read: [...read, ...bare] as Subject[], left: bare.length };
}

async function techniquesOf(platform: Platform, tenant: TenantScope, phase: string | undefined): Promise<Subject[]> {
  const rows = await all<UpstreamAttackPattern>(platform, tenant, {
    route: "/attack_patterns/search",
    idKey: "attack_pattern_id",
    sorts: [{ property: "attack_pattern_external_id", direction: "asc" }],
  });
  return rows
    .filter((row) => phase === undefined || row.attack_pattern_kill_chain_phases?.includes(phase.toLowerCase()))
    .map((row) => ({
      id: row.attack_pattern_id,
      name: row.attack_pattern_name,
      externalId: row.attack_pattern_external_id,
    }));
}

/** The techniques that each action plays. */
async function techniquesByAction(platform: Platform, tenant: TenantScope): Promise<ReadonlyMap<string, string[]>> {
  interface Action {
    readonly injector_contract_id: string;
    readonly injector_contract_attack_patterns: readonly string[] | null;
  }
  const rows = await all<Action>(platform, tenant, {
    route: "/injector_contracts/search",
    idKey: "injector_contract_id",
    sorts: [{ property: "injector_contract_updated_at", direction: "asc" }],
    more: { include_full_details: true },
  });
  return new Map(rows.map((row) => [row.injector_contract_id, [...(row.injector_contract_attack_patterns ?? [])]]));
}

/** The untested first, by name, then the tested, longest ago first. */
export function gapsFirst({ lastAt, name }: Covered): string {
  return `${String(lastAt ?? 0).padStart(15, "0")} ${name.toLowerCase()}`;
}

/** A row of coverage in our words. */
export function toCoverage(kind: CoverageKind, one: Covered): MessageInitShape<typeof CoverageSchema> {
  const isTechnique = kind === CoverageKind.ATTACK_PATTERN;
  return {
    id: one.id,
    name: one.name,
    externalId: one.externalId ?? "",
    tests: one.tests,
    errors: one.errors,
    ...(one.lastAt !== undefined && { lastTestedAt: timestampFromMs(one.lastAt) }),
    ...(isTechnique && one.tests > 0 && { prevented: one.prevented, detected: one.detected }),
    ...(one.membersTested !== undefined && { endpointsTested: one.membersTested, endpoints: one.members?.length ?? 0 }),
  };
}
