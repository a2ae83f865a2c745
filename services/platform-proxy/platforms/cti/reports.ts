import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { dateOf } from "../../../shared/dates.js";
import { alreadyExists, notFound } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import { type Binding, unary } from "../../binding.js";
import { takingTurns } from "../../lib/taking-turns.js";
import type { Platform } from "../../platform.js";
import { COUNTED, countOf } from "./contents.js";
import { bound, filtersOf } from "./filters.js";
import { fragment, type NodeOf, operation } from "./graphql.js";
import { authorOf, CORE, labelsOf, markingsOf, numberOf, REF, refOf, summaryOf, timeOf } from "./knowledge.js";
import { nodesOf, PAGE, placeOf } from "./paging.js";
import { all, type Filter, knownOf, objectsOf } from "./resolve.js";
import { selectionOf } from "./search.js";
import { checkedName, textOf } from "./text.js";
import { checkVocabulary, inputOf, madeOf, noticesOfNew } from "./writes.js";

const { listReports, getReport, createReport } = ContainerService.method;

/** The fields that make a report. */
const REPORT = fragment(`
  fragment Report on Report {
    id
    name
    published
    report_types
    createdBy {
      id
      entity_type
      name
    }
    objectMarking {
      definition
    }
    objectLabel {
      value
    }
  }
`);

/** Reports, newest first. */
export const LIST_REPORTS = operation(
  `
  query ListReports($search: String, $first: Int, $after: ID, $filters: FilterGroup) {
    reports(search: $search, first: $first, after: $after, filters: $filters, orderBy: published, orderMode: desc) {
      edges {
        node {
          ...Report
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [REPORT, PAGE],
);

/** One report. */
export const GET_REPORT = operation(
  `
  query GetReport($id: String) {
    report(id: $id) {
      ...Report
      ...Counted
      description
      content
      confidence
      x_opencti_reliability
      notes(first: 10) {
        edges {
          node {
            ...Ref
          }
        }
      }
    }
  }
`,
  [REPORT, COUNTED, REF],
);

/** Creates a report. */
export const CREATE_REPORT = operation(
  `
  mutation CreateReport($input: ReportAddInput!) {
    reportAdd(input: $input) {
      ...Core
      ...Counted
      confidence
    }
  }
`,
  [CORE, COUNTED],
);

/** Reports of a name. */
export const REPORTS_OF_NAME = operation(`
  query ReportsOfName($filters: FilterGroup) {
    reports(filters: $filters, first: 1) {
      edges {
        node {
          id
        }
      }
    }
  }
`);

const MAX_CONTENT = 24_000;

/** A report as a row of a list. */
const reportRowOf = (node: NodeOf<typeof REPORT>) => ({
  id: node.id,
  name: node.name,
  ...timeOf("published", node.published),
  reportTypes: (node.report_types ?? []).filter((type) => type !== null),
  markings: markingsOf(node),
  labels: labelsOf(node),
});

const reportOf = (node: NodeOf<typeof REPORT>) => ({ ...reportRowOf(node), ...authorOf(node) });

/** How the tools for reports are answered. */
export const reportBindings: readonly Binding[] = [
  unary(listReports, async (request, platform) => {
    const own: Filter[] = [];
    if (request.reportType !== undefined) own.push({ key: ["report_types"], values: [request.reportType] });
    if (request.publishedAfter) own.push(bound("published", "gte", dateOf(request.publishedAfter)));
    if (request.publishedBefore) own.push(bound("published", "lte", dateOf(request.publishedBefore)));
    if (request.objectId !== undefined) {
      const held = await knownOf(platform, request.objectId, "object_id", true);
      own.push({ key: ["objects"], values: [held.id] });
    }
    const variables = selectionOf(request.query, await filtersOf(platform, request.filter, ...own));
    const place = placeOf(request, ["reports", variables]);
    const { reports } = await platform.graphql(LIST_REPORTS, {
      ...variables,
      first: place.first,
      after: place.after,
    });
    const paging = place.next(reports);
    if (request.reportType !== undefined && paging.totalSize === 0)
      await checkVocabulary(platform, "report_types_ov", [request.reportType], "report_type");
    return { reports: nodesOf(reports).map(reportRowOf), ...paging };
  }),
  unary(getReport, async ({ reportId }, platform) => {
    const { report } = await platform.graphql(GET_REPORT, { id: reportId });
    if (report === null) throw notFound(`report_id: no report with the id ${reportId} exists or is visible to you`);
    const content = report.content ?? "";
    return {
      report: reportOf(report),
      description: report.description ?? "",
      content: shorten(content, MAX_CONTENT),
      contentTruncated: content.length > MAX_CONTENT,
      ...numberOf("confidence", report.confidence),
      reliability: report.x_opencti_reliability ?? "",
      ...countOf(report.objects),
      notes: nodesOf(report.notes).map(refOf),
    };
  }),
  unary(createReport, async ({ published, description, content, reportTypes, objectIds, refs, ...given }, platform) => {
    const name = checkedName(given.name);
    const at = published === undefined ? new Date() : dateOf(published);
    const types = await checkVocabulary(platform, "report_types_ov", reportTypes, "report_types");
    const input = await inputOf(platform, refs);
    const objects = await objectsOf(platform, objectIds, "object_ids", true);
    const fields = {
      ...input,
      name,
      published: at.toISOString(),
      ...textOf("description", description),
      ...textOf("content", content),
      ...(types.length > 0 && { report_types: types }),
      ...(objects.length > 0 && { objects: objects.map(({ id }) => id) }),
    };
    const { reportAdd } = await takingTurns(platform, "Report", [name], async () => {
      await checkNoReport(platform, name, at);
      return platform.graphql(CREATE_REPORT, { input: fields });
    });
    const made = madeOf(reportAdd);
    const count = countOf(made.objects);
    const { objectCount } = count;
    const notices = noticesOfNew({ refs, name }, made);
    if (objectCount !== new Set(objects.map(({ id }) => id)).size)
      notices.push(`the report holds ${objectCount} objects that you can see`);
    return { result: { object: summaryOf(made), notices }, ...count };
  }),
];

/** @throws ConnectError already_exists: the platform would overwrite a report of the same name and date. */
async function checkNoReport(platform: Platform, name: string, at: Date): Promise<void> {
  const filters = all({ key: ["name"], values: [name] }, bound("published", "gte", at), bound("published", "lte", at));
  const { reports } = await platform.graphql(REPORTS_OF_NAME, { filters });
  const [same] = nodesOf(reports);
  if (same !== undefined) {
    throw alreadyExists(
      `nothing was written: a report with this name and date already exists (id ${same.id}); change it with update_entity or add_objects_to_container`,
    );
  }
}
