import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { aborted, alreadyExists, failedPrecondition, notFound } from "../../../shared/errors.js";
import { type Binding, steps } from "../../binding.js";
import type { Platform } from "../../platform.js";
import { bound, filtersOf, someOf } from "./filters.js";
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
import { all, checkTypes, type Filter, objectOf, objectsOf, type TargetNode } from "./resolve.js";
import { searchTextOf } from "./text.js";
import { checkReferences, checkVocabulary, inputOf, noticesOf } from "./writes.js";

const { listReports, getReport, listContainerObjects, createReport, addObjectsToContainer, removeObjectFromContainer } =
  ContainerService.method;

const REPORT =
  "id name published report_types createdBy { id entity_type name } objectMarking { definition } objectLabel { value }";
export const LIST_REPORTS = `query ListReports($search: String, $first: Int, $after: ID, $filters: FilterGroup) { reports(search: $search, first: $first, after: $after, filters: $filters, orderBy: published, orderMode: desc) { edges { node { ${REPORT} } } ${PAGE} } }`;
export const GET_REPORT = `query GetReport($id: String) { report(id: $id) { ${REPORT} description content confidence x_opencti_reliability objects(first: 1) { pageInfo { globalCount } } notes(first: 10) { edges { node { id entity_type representative { main } } } } } }`;
const ENDS =
  "from { ... on StixCoreObject { id representative { main } } } to { ... on StixCoreObject { id representative { main } } }";
export const CONTENTS = `query Contents($id: String, $types: [String], $first: Int, $after: ID, $search: String, $filters: FilterGroup) { container(id: $id) { id entity_type representative { main } objects(types: $types, first: $first, after: $after, search: $search, filters: $filters) { edges { node { ... on StixCoreObject { id entity_type representative { main } } ... on StixCoreRelationship { id entity_type ${ENDS} } ... on StixSightingRelationship { id entity_type ${ENDS} } } } ${PAGE} } } }`;
export const CREATE_REPORT = `mutation CreateReport($input: ReportAddInput!) { reportAdd(input: $input) { ...Core confidence objects(first: 1) { pageInfo { globalCount } } } } ${CORE}`;
export const REPORTS_OF_NAME = `query ReportsOfName($filters: FilterGroup) { reports(filters: $filters, first: 20) { edges { node { id name published } } } }`;
export const ADD_OBJECTS = `mutation AddObjects($id: ID!, $input: StixRefRelationshipsAddInput!, $commitMessage: String, $references: [String]) { stixCoreObjectEdit(id: $id) { relationsAdd(input: $input, commitMessage: $commitMessage, references: $references) { id } } }`;
export const REMOVE_OBJECT = `mutation RemoveObject($id: ID!, $toId: StixRef!) { containerEdit(id: $id) { relationDelete(toId: $toId, relationship_type: "object") { id } } }`;

interface ReportNode extends Pick<CoreNode, "id" | "createdBy" | "objectMarking" | "objectLabel"> {
  readonly name: string;
  readonly published: string;
  readonly report_types: readonly string[] | null;
}

interface Counted {
  readonly objects: { readonly pageInfo: { readonly globalCount: number } } | null;
}

interface End {
  readonly id?: string;
  readonly representative?: { readonly main: string };
}

/** Of a relationship the ends are asked for too; they are null where hidden. */
type ContainedNode = RefNode & {
  readonly from?: End | null;
  readonly to?: End | null;
};

/** What a container holds besides objects, as its list takes it for a type. */
const RELATIONSHIPS = ["stix-core-relationship", "stix-sighting-relationship"];

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

export const containerBindings: readonly Binding[] = [
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
  steps(listContainerObjects, async (request, platform) => {
    await checkTypes(
      platform,
      request.types.filter((type) => !RELATIONSHIPS.includes(type)),
      ["Stix-Domain-Object", "Stix-Cyber-Observable"],
    );
    const target = await containerOf(platform, request.containerId);
    const variables = { id: target.id, types: someOf(request.types), search: searchTextOf(request.query) };
    const place = placeOf(request, ["contents", variables]);
    const objects = await contentsOf(platform, { ...variables, first: place.first, after: place.after });
    return {
      container: refOf(target),
      objects: nodesOf(objects).map(containedOf),
      nextPageToken: place.next(objects),
      totalSize: objects.pageInfo.globalCount,
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
  steps(addObjectsToContainer, async ({ containerId, objectIds, commitMessage, externalReferenceIds }, platform) => {
    const container = await containerOf(platform, containerId);
    const ids = [...new Set((await objectsOf(platform, objectIds, "object_ids", true)).map(({ id }) => id))];
    await checkReferences(platform, externalReferenceIds, "external_reference_ids");
    const before = await heldOf(platform, container.id, ids);
    const wanted = ids.filter((id) => !before.held.has(id));
    if (wanted.length > 0) {
      await platform.graphql(ADD_OBJECTS, {
        id: container.id,
        input: { relationship_type: "object", toIds: wanted },
        commitMessage: commitMessage || undefined,
        references: someOf(externalReferenceIds),
      });
    }
    const after = wanted.length === 0 ? before : await heldOf(platform, container.id, ids);
    const lost = wanted.filter((id) => !after.held.has(id));
    if (lost.length > 0)
      throw aborted(
        `the platform did not add ${lost.join(", ")}; the others were added. Read the container and try again`,
      );
    return {
      container: refOf(container),
      addedIds: wanted,
      alreadyHeldIds: ids.filter((id) => before.held.has(id)),
      objectCount: after.count,
    };
  }),
  steps(removeObjectFromContainer, async ({ containerId, objectId }, platform) => {
    const container = await containerOf(platform, containerId);
    const [object] = (await objectsOf(platform, [objectId], "object_id", true)) as [RefNode];
    const before = await heldOf(platform, container.id, [object.id]);
    if (!before.held.has(object.id)) return { container: refOf(container), removed: false, objectCount: before.count };
    await platform.graphql(REMOVE_OBJECT, { id: container.id, toId: object.id });
    const after = await heldOf(platform, container.id, [object.id]);
    if (after.held.has(object.id))
      throw aborted(
        "the platform accepted the change, but the container holds the object still; try again in a few seconds",
      );
    return { container: refOf(container), removed: true, objectCount: after.count };
  }),
];

async function containerOf(platform: Platform, id: string): Promise<TargetNode> {
  const target = await objectOf(platform, id, "container_id");
  if (!target.parent_types.includes("Container"))
    throw failedPrecondition(`container_id: a ${target.entity_type} holds no objects`);
  return target;
}

async function contentsOf(platform: Platform, variables: Record<string, unknown>): Promise<Connection<ContainedNode>> {
  const { container } = await platform.graphql<{ container: { objects: Connection<ContainedNode> } | null }>(
    CONTENTS,
    variables,
  );
  if (container === null) throw notFound("container_id: the container is gone or no longer visible to you");
  return container.objects;
}

/** Which of these a container holds, and how many objects in all. */
async function heldOf(
  platform: Platform,
  id: string,
  ids: readonly string[],
): Promise<{ readonly held: ReadonlySet<string>; readonly count: number }> {
  const found = await contentsOf(platform, { id, first: ids.length, filters: all({ key: ["ids"], values: ids }) });
  const whole = await contentsOf(platform, { id, first: 1 });
  return { held: new Set(nodesOf(found).map((node) => node.id)), count: whole.pageInfo.globalCount };
}

function containedOf(node: ContainedNode) {
  if (node.from === undefined) return { object: refOf(node), relationship: false };
  // Where an end is hidden the platform still gives its id; only what is visible is told.
  const name = (end: End | null | undefined) => end?.representative?.main ?? "(not visible to you)";
  return {
    object: {
      id: node.id,
      type: node.entity_type,
      name: `${name(node.from)} ${node.entity_type} ${name(node.to)}`,
    },
    relationship: true,
  };
}

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
