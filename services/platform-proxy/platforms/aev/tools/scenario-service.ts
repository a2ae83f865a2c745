import { Code, ConnectError } from "@connectrpc/connect";
import { ScenarioOrder, ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { stillThere } from "../delete.js";
import { incompleteRead } from "../errors.js";
import { labelIds, labelNames } from "../labels.js";
import { launchScenario } from "../launch-scenario.js";
import { havingOne, instantKey, listPage, nameKey, type Order } from "../list.js";
import { memberOf, readById, SCENARIO } from "../member.js";
import { severityWord, toScenario, toScenarioRow } from "../scenario.js";
import { between, isAscii, isTruthWord, oneOf } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import { needStorable } from "../unstorable.js";
import type { UpstreamScenario, UpstreamScenarioEntity } from "../upstream.js";

const BY_NAME: Order<UpstreamScenario> = {
  sorts: [{ property: "scenario_name", direction: "asc" }],
  keyOf: (row) => nameKey(row.scenario_name),
  isOurs: true,
};
const BY_CHANGE: Order<UpstreamScenario> = {
  sorts: [{ property: "scenario_updated_at", direction: "desc" }],
  keyOf: (row) => instantKey(row.scenario_updated_at),
};

const { listScenarios, getScenario, createScenario, updateScenario, deleteScenario } = ScenarioService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listScenarios, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamScenario>(
      platform,
      tenant,
      {
        route: "/scenarios/search",
        idKey: "scenario_id",
        query: r.query,
        textsOf: (row) => [row.scenario_name],
        having: [
          ...havingOne<UpstreamScenario>((row) => row.scenario_tags, await labelIds(platform, tenant, r.labels)),
          ...havingOne<UpstreamScenario>((row) => row.scenario_category, r.categories),
        ],
        filters: [
          ...oneOf("scenario_severity", r.severities.map(severityWord)),
          ...(isTruthWord(r.categories) || !r.categories.every(isAscii)
            ? []
            : oneOf("scenario_category", r.categories)),
          ...between("scenario_updated_at", r.updatedAfter, r.updatedBefore),
        ],
        order: r.orderBy === ScenarioOrder.NAME ? BY_NAME : BY_CHANGE,
        piece: 500,
      },
      r,
    );
    const names = await labelNames(
      platform,
      tenant,
      page.rows.map((row) => row.scenario_tags),
    );
    return { scenarios: page.rows.map((row) => toScenarioRow(row, names)), ...page.paging };
  }),

  unary(getScenario, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { scenario: await shown(platform, tenant, await memberOf(platform, tenant, SCENARIO, r.scenarioId)) };
  }),

  unary(createScenario, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const created = await platform.rest<UpstreamScenarioEntity>({
      verb: "POST",
      path: tenant.path("/scenarios"),
      body: {
        scenario_name: r.name.trim(),
        scenario_description: r.description,
        scenario_category: r.category,
        scenario_main_focus: r.mainFocus,
        scenario_severity: r.severity === undefined ? undefined : severityWord(r.severity),
        scenario_tags: await labelIds(platform, tenant, r.labels),
      },
    });
    return { scenario: await shown(platform, tenant, created) };
  }),

  writingBack(
    updateScenario,
    (r) => [r.scenarioId],
    async (r, platform) => {
      // It is read whole by a write that changes the time of its last change.
      const { name, description, category, mainFocus: main_focus } = r;
      needStorable({ name, description, category, main_focus });
      const tenant = await tenantOf(platform, r.tenantId);
      const before = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
      const labels = r.clearLabels ? [] : await labelIds(platform, tenant, r.labels);
      const entity = await entityOf(platform, tenant, before);
      const changed = await platform.rest<UpstreamScenarioEntity>({
        verb: "PUT",
        path: tenant.path(`/scenarios/${before.scenario_id}`),
        body: {
          ...kept(entity),
          scenario_name: r.name?.trim() ?? entity.scenario_name,
          scenario_description: r.description ?? entity.scenario_description,
          scenario_category: r.category ?? entity.scenario_category,
          scenario_main_focus: r.mainFocus ?? entity.scenario_main_focus,
          scenario_severity: r.severity === undefined ? entity.scenario_severity : severityWord(r.severity),
          scenario_tags: r.clearLabels || labels.length > 0 ? labels : (before.scenario_tags ?? []),
        },
      });
      return { scenario: await shown(platform, tenant, changed) };
    },
  ),

  launchScenario,

  unary(deleteScenario, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { scenario_id, scenario_name, scenario_exercises } = await memberOf(platform, tenant, SCENARIO, r.scenarioId);
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`/scenarios/${scenario_id}`) });
    if (!(await isGone(platform, tenant, scenario_id))) {
      throw stillThere("scenario");
    }
    return {
      deleted: { id: scenario_id, name: scenario_name },
      simulations: (scenario_exercises ?? []).map((id) => ({ id })),
    };
  }),
];

async function shown(platform: Platform, tenant: TenantScope, answer: UpstreamScenario) {
  const row = objectOf<UpstreamScenario>(platform.server, answer, SCENARIO.idKey);
  return toScenario(row, await labelNames(platform, tenant, [row.scenario_tags]));
}

/** A caller with a grant alone loses it with the scenario, and may then read as little as of an unknown one. */
async function isGone(platform: Platform, tenant: TenantScope, id: string): Promise<boolean> {
  try {
    return (await readById(platform, tenant, SCENARIO, id)) === undefined;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.PermissionDenied) return true;
    throw error;
  }
}

/**
 * Reads every field that a PUT would clear if it were left out. A read by id
 * does not tell all of them, such as the addresses that replies go to; a write
 * does, so the tags are written as they are.
 */
async function entityOf(
  platform: Platform,
  tenant: TenantScope,
  { scenario_id, scenario_tags }: UpstreamScenario,
): Promise<UpstreamScenarioEntity> {
  const entity = await platform.rest<UpstreamScenarioEntity>({
    verb: "PUT",
    path: tenant.path(`/scenarios/${scenario_id}/tags`),
    // It reads null where there are none, and refuses null.
    body: { scenario_tags: scenario_tags ?? [] },
    changesNothing: true,
  });
  if (!Array.isArray(entity.scenario_mails_reply_to)) {
    throw incompleteRead();
  }
  return entity;
}

function kept(entity: UpstreamScenarioEntity): Record<string, unknown> {
  return {
    scenario_subtitle: entity.scenario_subtitle,
    scenario_external_reference: entity.scenario_external_reference,
    scenario_external_url: entity.scenario_external_url,
    scenario_message_header: entity.scenario_message_header,
    scenario_message_footer: entity.scenario_message_footer,
    scenario_mail_from_name: entity.scenario_mail_from_name,
    scenario_mails_reply_to: entity.scenario_mails_reply_to,
    scenario_custom_dashboard: entity.scenario_custom_dashboard,
  };
}
