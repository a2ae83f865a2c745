import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { alreadyExists, notFound } from "../../../shared/rpc/errors.js";
import { type Binding, unary as steps } from "../../binding.js";
import type { Platform } from "../../platform.js";
import { bound, filtersOf } from "./filters.js";
import {
  CORE,
  type CoreNode,
  labelsOf,
  markingsOf,
  numberOf,
  type RefNode,
  refOf,
  summaryOf,
  timeOf,
} from "./knowledge.js";
import { type Connection, nodesOf, PAGE, placeOf } from "./paging.js";
import { all, type Filter, objectsOf, type TargetNode } from "./resolve.js";
import { searchTextOf } from "./text.js";
import { checkVocabulary, inputOf, noticesOf } from "./writes.js";

const { listReports, getReport, createReport } = ContainerService.method;

const REPORT =
  "id name published report_types createdBy { id entity_type name } objectMarking { definition } objectLabel { value }";
export const LIST_REPORTS = `query ListReports($search: String, $first: Int, $after: ID, $filters: FilterGroup) { reports(search: $search, first: $first, after: $after, filters: $filters, orderBy: published, orderMode: desc) { edges { node { ${REPORT} } } ${PAGE} } }`;
export const GET_REPORT = `query GetReport($id: String) { report(id: $id) { ${REPORT} description content confidence x_opencti_reliability objects(first: 1) { pageInfo { globalCount } } notes(first: 10) { edges { node { id entity_type representative { main } } } } } }`;
export const CREATE_REPORT = `mutation CreateReport($input: ReportAddInput!) { reportAdd(input: $input) { ...Core confidence objects(first: 1) { pageInfo { globalCount } } } } ${CORE}`;
export const REPORTS_OF_NAME = `query ReportsOfName($filters: FilterGroup) { reports(filters: $filters, first: 20) { edges { node { id name published } } } }`;

interface ReportNode extends Pick<CoreNode, "id" | "createdBy" | "objectMarking" | "objectLabel"> {
  readonly name: string;
  readonly published: string;
  readonly report_types: readonly string[] | null;
}

interface Counted {
  readonly objects: { readonly pageInfo: { readonly globalCount: number } } | null;
}

const MAX_CONTENT = 50_000;

const reportOf = (node: ReportNode) => ({
  id: node.id,
  name: node.name,
  ...timeOf("published", node.published),
  reportTypes: [...(node.report_types ?? [])],
  ...(node.createdBy !== null && {
    author: { id: node.createdBy.id, type: node.createdBy.entity_type, name: node.createdBy.name },
  }),
  markings: markingsOf(node),
  labels: labelsOf(node),
});

/** How the tools for reports are answered. */
export const reportBindings: readonly Binding[] = [
  steps(listReports, async (request, platform) => {
    const own: Filter[] = [];
    if (request.reportType !== undefined) own.push({ key: ["report_types"], values: [request.reportType] });
    if (request.publishedAfter) own.push(bound("published", "gte", timestampDate(request.publishedAfter)));
    if (request.publishedBefore) own.push(bound("published", "lte", timestampDate(request.publishedBefore)));
    if (request.objectId !== undefined) {
      const [held] = await objectsOf(platform, [request.objectId], "object_id", true);
      own.push({ key: ["objects"], values: [(held as RefNode).id] });
    }
    const variables = {
      search: searchTextOf(request.query),
      filters: await filtersOf(platform, request.filter, ...own),
    };
    const place = placeOf(request, ["reports", variables]);
    const { reports } = await platform.graphql<{ reports: Connection<ReportNode> }>(LIST_REPORTS, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    return {
      reports: nodesOf(reports).map(reportOf),
      nextPageToken: place.next(reports),
      totalSize: reports.pageInfo.globalCount,
    };
  }),
  steps(getReport, async ({ id }, platform) => {
    type Node = ReportNode &
      Counted & {
        readonly description: string | null;
        readonly content: string | null;
        readonly confidence: number | null;
        readonly x_opencti_reliability: string | null;
        readonly notes: Connection<RefNode> | null;
      };
    const { report } = await platform.graphql<{ report: Node | null }>(GET_REPORT, { id });
    if (report === null) throw notFound(`id: no report with the id ${id} exists or is visible to you`);
    const content = report.content ?? "";
    return {
      report: reportOf(report),
      description: report.description ?? "",
      content: content.slice(0, MAX_CONTENT),
      contentTruncated: content.length > MAX_CONTENT,
      ...numberOf("confidence", report.confidence),
      reliability: report.x_opencti_reliability ?? "",
      objectCount: report.objects?.pageInfo.globalCount ?? 0,
      notes: nodesOf(report.notes).map(refOf),
    };
  }),
  steps(createReport, async ({ name, published, description, content, reportTypes, objectIds, refs }, platform) => {
    const at = published === undefined ? new Date() : timestampDate(published);
    await checkVocabulary(platform, "report_types_ov", reportTypes, "report_types");
    const input = await inputOf(platform, refs);
    const objects = await objectsOf(platform, objectIds, "object_ids", true);
    await checkNoReport(platform, name, at);
    const { reportAdd: made } = await platform.graphql<{ reportAdd: TargetNode & Counted }>(CREATE_REPORT, {
      input: {
        ...input,
        name,
        published: at.toISOString(),
        ...(description !== "" && { description }),
        ...(content !== "" && { content }),
        ...(reportTypes.length > 0 && { report_types: reportTypes }),
        ...(objects.length > 0 && { objects: objects.map(({ id }) => id) }),
      },
    });
    const objectCount = made.objects?.pageInfo.globalCount ?? 0;
    const notices = noticesOf({ refs, name }, made);
    if (objectCount !== new Set(objects.map(({ id }) => id)).size)
      notices.push(`the report holds ${objectCount} objects that you may see`);
    return { result: { object: summaryOf(made), notices }, objectCount };
  }),
];

/** @throws ConnectError already_exists: the platform would overwrite a report of the same name and date. */
async function checkNoReport(platform: Platform, name: string, at: Date): Promise<void> {
  const filters = all({ key: ["name"], values: [name] });
  const { reports } = await platform.graphql<{ reports: Connection<{ id: string; name: string; published: string }> }>(
    REPORTS_OF_NAME,
    { filters },
  );
  const same = nodesOf(reports).find((report) => Date.parse(report.published) === at.getTime());
  if (same !== undefined) {
    throw alreadyExists(
      `nothing was written: a report of this name and date exists already (id ${same.id}); change it with update_entity or add_objects_to_container`,
    );
  }
}
