import type { MessageInitShape } from "@bufbuild/protobuf";
import { ReportSection, ReportService, type SimulationReportSchema } from "#proto/aev/v1/report_service_pb.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import { enumOf } from "../../../lib/words.js";
import { writingBack } from "../../../lib/writing-back.js";
import type { Platform } from "../../../platform.js";
import { instantKey, listPage, type Order } from "../list.js";
import { planOf } from "../plan.js";
import { type TenantScope, tenantOf } from "../tenant.js";
import { listedOf, wholeOf } from "../whole.js";

interface UpstreamReport {
  readonly report_id: string;
  readonly report_name: string;
  readonly report_global_observation: string | null;
  readonly report_updated_at: string;
  readonly report_informations:
    | readonly { readonly report_informations_type: string; readonly report_informations_display: boolean | null }[]
    | null;
  readonly report_injects_comments:
    | readonly { readonly inject_id: string; readonly report_inject_comment: string | null }[]
    | null;
}

const NEWEST_FIRST: Order<UpstreamReport> = {
  sorts: [{ property: "report_updated_at", direction: "desc" }],
  keyOf: (row) => instantKey(row.report_updated_at),
};
const SECTIONS = Object.values(ReportSection).filter(
  (value): value is ReportSection => typeof value === "number" && value !== ReportSection.UNSPECIFIED,
);

const {
  listSimulationReports,
  getSimulationReport,
  createSimulationReport,
  updateSimulationReport,
  deleteSimulationReport,
} = ReportService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listSimulationReports, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const reports = await reportsOf(platform, tenant, r.simulationId);
    const page = await listPage<UpstreamReport>(
      platform,
      tenant,
      {
        route: reports.route,
        whole: () => wholeOf(platform, tenant, reports),
        idKey: "report_id",
        order: NEWEST_FIRST,
      },
      r,
    );
    return { reports: page.rows.map(toRow), ...page.paging };
  }),

  unary(getSimulationReport, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const reports = await reportsOf(platform, tenant, r.simulationId);
    return { report: toReport(await listedOf(platform, tenant, reports, r.reportId)) };
  }),

  unary(createSimulationReport, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const { route } = await reportsOf(platform, tenant, r.simulationId);
    const created = await platform.rest({
      verb: "POST",
      path: tenant.path(route),
      body: {
        report_name: r.name.trim(),
        report_global_observation: r.observation,
        report_informations: sectionsOf(r.sections.length > 0 ? r.sections : SECTIONS),
      },
    });
    return { report: toReport(objectOf(platform.server, created, "report_id")) };
  }),

  writingBack(
    updateSimulationReport,
    (r) => [r.reportId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const reports = await reportsOf(platform, tenant, r.simulationId);
      const before = await listedOf<UpstreamReport>(platform, tenant, reports, r.reportId);
      const changed = await platform.rest({
        verb: "PUT",
        path: tenant.path(`${reports.route}/${before.report_id}`),
        body: {
          report_name: r.name?.trim() ?? before.report_name,
          report_global_observation: r.observation ?? before.report_global_observation,
          report_informations: r.clearSections || r.sections.length > 0 ? sectionsOf(r.sections) : [],
        },
      });
      return { report: toReport(objectOf(platform.server, changed, "report_id")) };
    },
  ),

  unary(deleteSimulationReport, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const reports = await reportsOf(platform, tenant, r.simulationId);
    const found = await listedOf<UpstreamReport>(platform, tenant, reports, r.reportId);
    const { report_id: id, report_name: name } = found;
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`${reports.route}/${id}`) });
    return { deleted: { id, name } };
  }),
];

/** The platform does not check that a report is of the simulation in the path, so it is found in that one's list. */
async function reportsOf(platform: Platform, tenant: TenantScope, simulationId: string) {
  const { route } = await planOf(platform, tenant, { case: "simulationId", value: simulationId });
  return { noun: "report of this simulation", route: `${route}/reports`, idKey: "report_id" };
}

/** What is shown and what is not: the platform keeps what a write does not name. */
function sectionsOf(shown: readonly ReportSection[]) {
  return SECTIONS.map((section) => ({
    report_informations_type: ReportSection[section],
    report_informations_display: shown.includes(section),
  }));
}

function toRow(row: UpstreamReport): MessageInitShape<typeof SimulationReportSchema> {
  return { ...toReport(row), observation: shorten(row.report_global_observation), comments: [] };
}

function toReport(row: UpstreamReport) {
  return {
    id: row.report_id,
    name: row.report_name,
    sections: (row.report_informations ?? [])
      .filter((one) => one.report_informations_display === true)
      .map((one) => enumOf(ReportSection, one.report_informations_type))
      .sort(),
    observation: row.report_global_observation ?? "",
    comments: (row.report_injects_comments ?? []).map((one) => ({
      inject: { id: one.inject_id },
      comment: one.report_inject_comment ?? "",
    })),
    ...given({ updatedAt: timeOf(row.report_updated_at) }),
  } satisfies MessageInitShape<typeof SimulationReportSchema>;
}
