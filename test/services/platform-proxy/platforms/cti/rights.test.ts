import type { DescField, DescMethodUnary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { Interval, RelationshipField } from "#proto/cti/v1/statistics_service_pb.js";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { readTools } from "../../../../../services/shared/tools/tools.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { make, relate, sight } from "./asking.js";

const { bindings: ctiBindings } = await loadPlatform("cti");

const tools = readTools(readImage()).filter(({ server }) => server === "cti");

/** A request that each tool takes, made of things that everybody may see. */
const requests: Record<string, object> = {};

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
  const { entities } = await harness.call(
    SearchService.method.searchEntities,
    { types: ["Sector"], pageSize: 2 },
    "reader",
  );
  const { observables } = await harness.call(SearchService.method.listObservables, { types: ["Mutex"] }, "reader");
  const { reports } = await harness.call(ContainerService.method.listReports, { pageSize: 1 }, "reader");
  const [one, two] = [entities[0]!, entities[1]!];
  const { indicators } = await harness.call(SearchService.method.listIndicators, { pageSize: 1 }, "reader");
  const indicatorId = indicators[0]!.id;
  const observableId = observables[0]!.id;
  const relationshipId = await relate(harness, observableId, "related-to", two.id, { confidence: 0 });
  const sightingId = await sight(harness, observableId, two.id);
  const held = await harness.call(
    ContainerService.method.listContainerObjects,
    { containerId: reports[0]!.id },
    "reader",
  );
  const containerId = reports[0]!.id;
  const { id } = one;
  Object.assign(requests, {
    whoami: {},
    list_entity_types: {},
    search_all: { query: "phishing" },
    search_entities: { types: ["Malware"] },
    list_observables: {},
    list_indicators: {},
    lookup_ioc: { value: "192.0.2.1" },
    find_entity_by_name: { name: one.name },
    get_entity: { objectId: id },
    get_entity_stix: { objectId: id },
    list_entity_changes: { objectId: id },
    list_entity_relationships: { objectId: id },
    get_top_related_entities: { objectId: id },
    list_threat_actors: {},
    list_reports: {},
    get_report: { reportId: containerId },
    list_container_objects: { containerId },
    count_entities: {},
    create_entity: { type: "Malware", name: "Made to be refused" },
    update_entity: { objectId: id, description: "x" },
    delete_entity: { objectId: id },
    create_report: { name: "Made to be refused" },
    add_objects_to_container: { containerId, objectIds: [two.id] },
    remove_object_from_container: { containerId, objectId: held.objects[0]!.id },
    create_observable: { type: "Text", value: "made to be refused" },
    promote_observable_to_indicator: { observableId: observables[0]!.id },
    create_relationship: { fromId: id, toId: two.id, relationshipType: "related-to" },
    get_indicator: { indicatorId },
    list_entity_indicators: { objectId: id },
    create_indicator: { name: "Made to be refused", pattern: "[mutex:name = 'made to be refused']" },
    update_indicator: { indicatorId, description: "x" },
    delete_indicator: { indicatorId },
    get_observable: { observableId },
    update_observable: { observableId, description: "x" },
    delete_observable: { observableId },
    get_relationship: { relationshipId },
    update_relationship: { relationshipId, description: "x" },
    delete_relationship: { relationshipId },
    create_sighting: { fromId: observableId, toId: one.id },
    get_sighting: { sightingId },
    update_sighting: { sightingId, description: "x" },
    delete_sighting: { sightingId },
    merge_entities: { targetId: id, sourceIds: [two.id] },
    get_entity_statistics: { objectId: id },
    get_entity_distribution: { field: "entity_type" },
    get_entity_timeseries: { interval: Interval.MONTH, start: timestampFromDate(new Date("2026-01-01")) },
    count_relationships: {},
    get_relationship_distribution: { objectId: id, field: RelationshipField.OTHER_TYPE },
    get_relationship_timeseries: {
      objectId: id,
      interval: Interval.MONTH,
      start: timestampFromDate(new Date("2026-01-01")),
    },
    list_entity_ttps: { objectId: id },
    get_attack_matrix: {},
    list_recent_changes: {},
    list_filter_keys: { type: "Malware" },
    list_relationship_types: { fromType: "Malware" },
    create_note: { objectIds: [id], content: "made to be refused" },
    add_labels: { objectId: id, labels: ["apt"] },
    remove_labels: { objectId: id, labels: await labelsOf(id) },
    add_markings: { objectId: id, markings: ["TLP:GREEN"] },
    remove_markings: { objectId: id, markings: ["TLP:GREEN"] },
    ...(await containerRequests(id)),
  });
});
afterAll(() => harness.close());

/** Requests of the tools for containers and what is written about an object. */
async function containerRequests(objectId: string): Promise<Record<string, object>> {
  const made = (type: string, input: object) => make(harness, type, { ...input, objects: [objectId] });
  const containerId = await made("Grouping", { name: "To be tried", context: "unspecified", confidence: 0 });
  const caseId = await made("Case-Rfi", { name: "To be tried", confidence: 0 });
  const noteId = await made("Note", { content: "To be tried", confidence: 0 });
  return {
    list_containers: {},
    list_groupings: {},
    list_cases: {},
    list_tasks: {},
    get_container: { containerId },
    get_case: { caseId },
    list_entity_containers: { objectId },
    list_entity_notes: { objectId },
    list_entity_external_references: { objectId },
    check_container_membership: { containerId, objectIds: [objectId] },
    update_container: { containerId, description: "x" },
    delete_container: { containerId },
    create_grouping: { name: "Made to be refused", context: "unspecified" },
    create_case_incident: { name: "Made to be refused" },
    create_case_rfi: { name: "Made to be refused" },
    create_case_rft: { name: "Made to be refused" },
    create_task: { caseId, name: "Made to be refused" },
    update_note: { noteId, content: "made to be refused" },
    delete_note: { noteId },
    create_opinion: { objectIds: [objectId], opinion: "agree" },
    add_external_reference: { objectId, sourceName: "Tried", externalId: "T-1" },
    remove_external_reference: { objectId, externalReferenceId: await referenceOf(objectId) },
    list_labels: {},
    list_markings: {},
    list_vocabulary_values: { vocabulary: "case_priority_ov" },
    list_kill_chain_phases: {},
    list_vulnerabilities: {},
    lookup_vulnerability: { name: "CVE-2026-10000" },
  };
}

/** A reference that is attached to an object. */
async function referenceOf(id: string): Promise<string> {
  const { externalReferenceAdd } = await harness.ask<{ externalReferenceAdd: { id: string } }>(
    "admin",
    'mutation { externalReferenceAdd(input: { source_name: "Source", external_id: "T-0" }) { id } }',
  );
  await harness.ask(
    "admin",
    'mutation($id: ID!, $to: [StixRef!]!) { stixCoreObjectEdit(id: $id) { relationsAdd(input: { relationship_type: "external-reference", toIds: $to }) { id } } }',
    { id, to: [externalReferenceAdd.id] },
  );
  return externalReferenceAdd.id;
}

/** The labels of an object; one is added where it has none, so that there is one to take off. */
async function labelsOf(id: string): Promise<string[]> {
  const { labels } = await harness.ask<{ labels: { edges: { node: { id: string; value: string } }[] } }>(
    "admin",
    "{ labels(first: 1) { edges { node { id value } } } }",
  );
  const { node } = labels.edges[0]!;
  await harness.ask(
    "admin",
    'mutation($id: ID!, $to: [StixRef!]!) { stixCoreObjectEdit(id: $id) { relationsAdd(input: { relationship_type: "object-label", toIds: $to }) { id } } }',
    { id, to: [node.id] },
  );
  return [node.value];
}

async function outcome(name: string, as: string): Promise<Code | "ok"> {
  const method = ctiBindings.find(({ method: one }) => one === toolOf(name))!.method as DescMethodUnary;
  return harness.call(method, (requests[name] ?? {}) as never, as).then(
    () => "ok" as const,
    (error: unknown) => ConnectError.from(error).code,
  );
}

const toolOf = (name: string) => {
  const tool = tools.find((one) => one.name === name)!;
  return ctiBindings.find(
    ({ method }) => method.name === tool.method.name && method.parent.typeName === tool.method.parent.typeName,
  )!.method;
};

test.for(tools)("$name needs what it says: $needs", async ({ name, needs, listing }, { skip }) => {
  if (requests[name] === undefined && listing.inputSchema.required !== undefined)
    return skip("its required arguments are not among the requests above: its own test tries it as several people");
  // Most rights last, since a deletion takes away what the others are tried on.
  const users: [string, readonly string[]][] = [
    ["nobody", []],
    ["reader", ["KNOWLEDGE"]],
    ["analyst", ["KNOWLEDGE", "KNOWLEDGE_KNPARTICIPATE", "KNOWLEDGE_KNUPDATE"]],
  ];
  for (const [user, held] of users) {
    const allowed = needs.every((capability) => held.includes(capability));
    const code = await outcome(name, user);
    if (allowed) expect([user, code]).not.toEqual([user, Code.PermissionDenied]);
    else expect([user, code]).toEqual([user, Code.PermissionDenied]);
  }
});

test("a tool is read-only exactly where it takes the read scope", () => {
  for (const { name, readOnly, scope } of tools) expect([name, readOnly]).toEqual([name, scope === "cti:read"]);
});

test("what deletes, merges or removes is marked destructive, and nothing else", () => {
  const destructive = tools.filter(({ listing }) => listing.annotations.destructiveHint).map(({ name }) => name);
  expect(destructive.toSorted()).toEqual([
    "delete_container",
    "delete_entity",
    "delete_indicator",
    "delete_note",
    "delete_observable",
    "delete_relationship",
    "delete_sighting",
    "merge_entities",
    "remove_external_reference",
    "remove_labels",
    "remove_markings",
    "remove_object_from_container",
  ]);
});

test("no write changes, merges or deletes an organization, whichever argument names it, not even as administrator", async () => {
  const id = await make(harness, "Organization", { name: "Organization to be left alone" });
  const standing = () =>
    harness.ask("admin", "query($id: String!) { stix(id: $id) stixCoreObject(id: $id) { updated_at } }", { id });
  const before = await standing();
  const refused: string[] = [];
  for (const { name, readOnly } of tools) {
    const method = toolOf(name) as DescMethodUnary;
    for (const { localName, fieldKind } of readOnly ? [] : method.input.fields.filter(isId)) {
      const given = { ...requests[name], [localName]: fieldKind === "list" ? [id] : id };
      const said = await harness.call(method, given as never, "admin").then(
        () => "",
        (error: unknown) => ConnectError.from(error).rawMessage,
      );
      if (said.includes("only read organizations")) refused.push(`${name} ${localName}`);
      expect([name, localName, await standing()]).toEqual([name, localName, before]);
    }
  }
  expect(refused.toSorted()).toEqual([
    "add_external_reference objectId",
    "add_labels objectId",
    "add_markings objectId",
    "delete_entity objectId",
    "merge_entities targetId",
    "remove_external_reference objectId",
    "remove_labels objectId",
    "remove_markings objectId",
    "update_entity objectId",
  ]);
});

const isId = ({ localName }: DescField): boolean => /Ids?$/.test(localName);
