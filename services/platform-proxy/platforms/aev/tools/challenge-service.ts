import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ChallengeFlag,
  type ChallengeSchema,
  ChallengeService,
  FlagType,
} from "#proto/aev/v1/challenge_service_pb.js";
import { invalidArgument } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { enumOf } from "../../../lib/words.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { documentIds, documentNames } from "../attached-documents.js";
import { expressionProblem } from "../expression.js";
import { labelIds, labelNames } from "../labels.js";
import { listPage, nameKey } from "../list.js";
import { planOf } from "../plan.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import { CHALLENGE, listedOf, wholeOf } from "../whole.js";

interface UpstreamChallenge {
  readonly challenge_id: string;
  readonly challenge_name: string;
  readonly challenge_category: string | null;
  readonly challenge_content: string | null;
  readonly challenge_score: number | null;
  readonly challenge_max_attempts: number | null;
  readonly challenge_flags: readonly { readonly flag_type: string; readonly flag_value: string }[] | null;
  readonly challenge_tags: readonly string[] | null;
  readonly challenge_documents: readonly string[] | null;
}

const { listChallenges, getChallenge, createChallenge, updateChallenge, deleteChallenge } = ChallengeService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listChallenges, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const plan = r.parent.case === undefined ? undefined : await planOf(platform, tenant, r.parent);
    const listed = { ...CHALLENGE, route: `${plan?.route ?? ""}/challenges` };
    const page = await listPage<UpstreamChallenge>(
      platform,
      tenant,
      {
        route: listed.route,
        whole: () => wholeOf(platform, tenant, listed),
        idKey: "challenge_id",
        query: r.query,
        textsOf: (row) => [row.challenge_name, row.challenge_category],
        order: {
          sorts: [{ property: "challenge_name", direction: "asc" }],
          keyOf: (row) => nameKey(row.challenge_name),
        },
      },
      r,
    );
    const names = await labelNames(
      platform,
      tenant,
      page.rows.map((row) => row.challenge_tags),
    );
    return { challenges: page.rows.map((row) => toRow(row, names)), ...page.paging };
  }),

  unary(getChallenge, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { challenge: await shown(platform, tenant, await listedOf(platform, tenant, CHALLENGE, r.challengeId)) };
  }),

  unary(createChallenge, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    needExpressions("flags", r.flags);
    const created = await platform.rest({
      verb: "POST",
      path: tenant.path("/challenges"),
      body: {
        challenge_name: r.name.trim(),
        challenge_category: r.category,
        challenge_content: r.content,
        challenge_score: r.score,
        challenge_max_attempts: r.maxAttempts,
        challenge_flags: r.flags.map(fromFlag),
        challenge_tags: await labelIds(platform, tenant, r.labels),
        challenge_documents: await documentIds(platform, tenant, r.documentIds),
      },
    });
    return { challenge: await shown(platform, tenant, objectOf(platform.server, created, "challenge_id")) };
  }),

  writingBack(
    updateChallenge,
    (r) => [r.challengeId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      needExpressions("add_flags", r.addFlags);
      const before = await listedOf<UpstreamChallenge>(platform, tenant, CHALLENGE, r.challengeId);
      const labels = await labelIds(platform, tenant, r.labels);
      const documents = await documentIds(platform, tenant, r.documentIds);
      const flags = [
        ...(before.challenge_flags ?? [])
          .filter(({ flag_value }) => !r.removeFlags.includes(flag_value))
          .map(({ flag_type, flag_value }) => ({ flag_type, flag_value })),
        ...r.addFlags.map(fromFlag),
      ];
      if (flags.length === 0)
        throw invalidArgument("remove_flags: a challenge must keep at least one flag; add another with add_flags");
      const changed = await platform.rest({
        verb: "PUT",
        path: tenant.path(`/challenges/${before.challenge_id}`),
        body: {
          challenge_name: r.name?.trim() ?? before.challenge_name,
          challenge_category: r.category ?? before.challenge_category,
          challenge_content: r.content ?? before.challenge_content,
          challenge_score: r.score ?? before.challenge_score,
          challenge_max_attempts: r.maxAttempts ?? before.challenge_max_attempts,
          challenge_flags: flags,
          challenge_tags: r.clearLabels || labels.length > 0 ? labels : (before.challenge_tags ?? []),
          challenge_documents:
            r.clearDocuments || documents.length > 0 ? documents : (before.challenge_documents ?? []),
        },
      });
      return { challenge: await shown(platform, tenant, objectOf(platform.server, changed, "challenge_id")) };
    },
  ),

  unary(deleteChallenge, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const found = await listedOf<UpstreamChallenge>(platform, tenant, CHALLENGE, r.challengeId);
    const { challenge_id: id, challenge_name: name } = found;
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`/challenges/${id}`) });
    return { deleted: { id, name } };
  }),
];

/** @throws ConnectError invalid_argument for an expression that no answer can ever be held against. */
function needExpressions(argument: string, flags: readonly ChallengeFlag[]): void {
  for (const { type, value } of flags) {
    const problem = type === FlagType.REGEXP ? expressionProblem(value) : undefined;
    if (problem !== undefined) throw invalidArgument(`${argument}: the regular expression ${value} ${problem}`);
  }
}

function fromFlag({ type, value }: ChallengeFlag) {
  return { flag_type: FlagType[type], flag_value: value };
}

function toRow(row: UpstreamChallenge, names: (ids: readonly string[] | null | undefined) => string[]) {
  return {
    id: row.challenge_id,
    name: row.challenge_name,
    category: row.challenge_category ?? "",
    content: shorten(row.challenge_content),
    labels: names(row.challenge_tags),
    ...given({ score: row.challenge_score, maxAttempts: row.challenge_max_attempts }),
  } satisfies MessageInitShape<typeof ChallengeSchema>;
}

async function shown(
  platform: Platform,
  tenant: TenantScope,
  row: UpstreamChallenge,
): Promise<MessageInitShape<typeof ChallengeSchema>> {
  const ids = row.challenge_documents ?? [];
  const none: ReadonlyMap<string, string> = new Map();
  const documents = await documentNames(platform, tenant, ids).catch(() => none);
  return {
    ...toRow(row, await labelNames(platform, tenant, [row.challenge_tags])),
    content: row.challenge_content ?? "",
    flags: (row.challenge_flags ?? []).map((flag) => ({
      type: enumOf(FlagType, flag.flag_type),
      value: flag.flag_value,
    })),
    documents: ids.map((id) => ({ id, ...given({ name: documents.get(id) }) })),
  };
}
