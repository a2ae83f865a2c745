import { EndpointPlatform } from "#proto/aev/v1/asset_service_pb.js";
import {
  PayloadArchitecture,
  type PayloadArgument,
  PayloadExpectation,
  PayloadService,
  PayloadStatus,
  PayloadType,
} from "#proto/aev/v1/payload_service_pb.js";
import { failedPrecondition, notFound } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import { enumOf, wordOf } from "../../../lib/words.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { documentIds } from "../attached-documents.js";
import { deleteAndCheck, stillThere } from "../delete.js";
import { labelIds } from "../labels.js";
import { havingOne, instantKey, listPage, type Order } from "../list.js";
import { type Kind, memberOf, named } from "../member.js";
import { idOf, TYPES, toPayloadDetails, typeOf, type UpstreamArgument, type UpstreamPayload } from "../payload.js";
import { needOfType, needWholeCommands } from "../payload-needs.js";
import { searchAll } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";

const PAYLOAD: Kind<UpstreamPayload> = {
  noun: "payload",
  route: "/payloads",
  idKey: "payload_id",
  sortKey: "payload_updated_at",
  filters: (row) => named("payload_name", row.payload_name),
};
const BY_CHANGE: Order<UpstreamPayload> = {
  sorts: [{ property: "payload_updated_at", direction: "desc" }],
  keyOf: (row) => instantKey(row.payload_updated_at),
};
const MAX_TECHNIQUES = 10_000;
const PLATFORMS: Readonly<Record<string, string>> = { macos: "MacOS" };

const { listPayloads, getPayload, createPayload, updatePayload, deletePayload } = PayloadService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listPayloads, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamPayload>(
      platform,
      tenant,
      {
        route: "/payloads/search",
        idKey: "payload_id",
        query: r.query,
        textsOf: (row) => [row.payload_name],
        having: [
          ...havingOne<UpstreamPayload>(
            (row) => row.payload_type,
            r.types.map((type) => TYPES[type]),
          ),
          ...havingOne<UpstreamPayload>((row) => row.payload_platforms, r.platforms.map(platformWord)),
          ...havingOne<UpstreamPayload>(
            (row) => row.payload_status,
            r.statuses.map((status) => PayloadStatus[status] as string),
          ),
        ],
        order: BY_CHANGE,
        piece: 200,
      },
      r,
    );
    return {
      payloads: page.rows.map((row) => ({
        id: row.payload_id,
        name: row.payload_name,
        type: typeOf(row),
        description: shorten(row.payload_description, 80),
        platforms: [...(row.payload_platforms ?? [])],
        status: enumOf(PayloadStatus, row.payload_status),
        source: row.payload_source.toLowerCase(),
        ...given({ updatedAt: timeOf(row.payload_updated_at) }),
      })),
      ...page.paging,
    };
  }),

  unary(getPayload, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return {
      payload: await toPayloadDetails(platform, tenant, await memberOf(platform, tenant, PAYLOAD, r.payloadId)),
    };
  }),

  unary(createPayload, async (r, platform) => {
    needOfType(r.type, { command: r.command, hostname: r.hostname, document_id: r.documentId });
    const tenant = await tenantOf(platform, r.tenantId);
    if (r.type === PayloadType.EXECUTABLE && (r.architecture ?? PayloadArchitecture.ALL_ARCHITECTURES) > 2) {
      throw failedPrecondition("architecture: an executable needs exactly one, x86_64 or arm64");
    }
    const [file] = r.documentId === undefined ? [] : await documentIds(platform, tenant, [r.documentId], "document_id");
    const body = {
      payload_type: TYPES[r.type],
      payload_name: r.name.trim(),
      payload_source: "MANUAL",
      payload_status: "UNVERIFIED",
      payload_platforms: r.platforms,
      payload_execution_arch: archWord(r.architecture ?? PayloadArchitecture.ALL_ARCHITECTURES),
      payload_description: r.description ?? null,
      command_executor: r.executor ?? null,
      command_content: r.command ?? null,
      // An empty command clears it.
      payload_cleanup_executor: r.cleanupCommand ? (r.executor ?? null) : null,
      payload_cleanup_command: r.cleanupCommand || null,
      dns_resolution_hostname: r.hostname ?? null,
      ...(r.type === PayloadType.EXECUTABLE && { executable_file: file }),
      ...(r.type === PayloadType.FILE_DROP && { file_drop_file: file }),
      payload_domains: [],
      payload_arguments: r.arguments.map(argumentOf),
      payload_prerequisites: [],
      ...(r.expectations.length > 0 && { payload_expectations: r.expectations.map(expectationWord) }),
      ...(await refsOf(platform, tenant, r)),
    };
    needWholeCommands(body);
    const created = await platform.rest<unknown>({ verb: "POST", path: tenant.path(PAYLOAD.route), body });
    return {
      payload: await toPayloadDetails(
        platform,
        tenant,
        objectOf<UpstreamPayload>(platform.server, created, "payload_id"),
      ),
    };
  }),

  writingBack(
    updatePayload,
    (r) => [r.payloadId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const row = await memberOf(platform, tenant, PAYLOAD, r.payloadId);
      needOfType(typeOf(row), { command: r.command, hostname: r.hostname });
      const refs = await refsOf(platform, tenant, r);
      const kept = (given: readonly string[], clear: boolean, before: readonly string[] | null | undefined) =>
        clear || given.length > 0 ? given : (before ?? []);
      const expectations = r.expectations.map(expectationWord);
      const executor = r.executor ?? row.command_executor ?? null;
      const cleanup = (r.cleanupCommand ?? row.payload_cleanup_command) || null;
      // What is left out becomes empty, so that everything is sent as it was read.
      const body = {
        payload_name: r.name?.trim() ?? row.payload_name,
        payload_platforms: row.payload_platforms,
        payload_description: r.description ?? row.payload_description,
        payload_execution_arch: r.architecture === undefined ? row.payload_execution_arch : archWord(r.architecture),
        payload_expectations: kept(expectations, r.clearExpectations, row.payload_expectations),
        command_executor: executor,
        command_content: r.command ?? row.command_content ?? null,
        payload_cleanup_executor: cleanup === null ? null : (row.payload_cleanup_executor ?? executor),
        payload_cleanup_command: cleanup,
        dns_resolution_hostname: r.hostname ?? row.dns_resolution_hostname ?? null,
        executable_file: idOf(row.executable_file),
        file_drop_file: idOf(row.file_drop_file),
        payload_arguments:
          r.clearArguments || r.arguments.length > 0 ? r.arguments.map(argumentOf) : row.payload_arguments,
        payload_prerequisites: row.payload_prerequisites,
        payload_output_parsers: row.payload_output_parsers ?? [],
        payload_detection_remediations: row.payload_detection_remediations ?? [],
        payload_tags: kept(refs.payload_tags, r.clearLabels, row.payload_tags),
        payload_domains: row.payload_domains ?? [],
        payload_attack_patterns: kept(refs.payload_attack_patterns, r.clearAttackPatterns, row.payload_attack_patterns),
      };
      needWholeCommands(body);
      const path = tenant.path(`${PAYLOAD.route}/${row.payload_id}`);
      const changed = await platform.rest<unknown>({ verb: "PUT", path, body });
      return {
        payload: await toPayloadDetails(
          platform,
          tenant,
          objectOf<UpstreamPayload>(platform.server, changed, "payload_id"),
        ),
      };
    },
  ),

  unary(deletePayload, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { payload_id, payload_name } = await memberOf(platform, tenant, PAYLOAD, r.payloadId);
    const path = tenant.path(`${PAYLOAD.route}/${payload_id}`);
    if (!(await deleteAndCheck(platform, path, path))) {
      throw stillThere("payload");
    }
    return { deleted: { id: payload_id, name: payload_name } };
  }),
];

const platformWord = (one: EndpointPlatform): string => {
  const word = wordOf(EndpointPlatform, one);
  return PLATFORMS[word] ?? `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
};
const archWord = (arch: PayloadArchitecture): string =>
  arch === PayloadArchitecture.ALL_ARCHITECTURES ? "ALL_ARCHITECTURES" : wordOf(PayloadArchitecture, arch);
const expectationWord = (one: PayloadExpectation): string => PayloadExpectation[one] as string;
function argumentOf({ key, type, defaultValue }: PayloadArgument): UpstreamArgument {
  return {
    key: key.trim(),
    type: type ?? "text",
    default_value: defaultValue ?? "",
    description: null,
  };
}

/** What a payload refers to, confirmed in the tenant: the platform drops ids that it does not know. */
async function refsOf(
  platform: Platform,
  tenant: TenantScope,
  r: {
    readonly labels: readonly string[];
    readonly attackPatternIds: readonly string[];
  },
) {
  const techniques = new Set(r.attackPatternIds.map((id) => id.toLowerCase()));
  const left = new Set(techniques);
  if (left.size > 0) {
    const sorts = [{ property: "attack_pattern_external_id", direction: "asc" }] as const;
    const search = { route: "/attack_patterns/search", idKey: "attack_pattern_id", sorts };
    for await (const row of searchAll<{ readonly attack_pattern_id: string }>(platform, tenant, search, MAX_TECHNIQUES))
      left.delete(row.attack_pattern_id);
    missing("attack_pattern_ids", tenant, [...left]);
  }
  return {
    payload_tags: await labelIds(platform, tenant, r.labels),
    payload_attack_patterns: [...techniques],
  };
}

function missing(argument: string, tenant: TenantScope, ids: readonly string[]): void {
  if (ids.length > 0) throw notFound(`${argument}: there is no ${ids.join(", ")} in tenant ${tenant.name}`);
}
