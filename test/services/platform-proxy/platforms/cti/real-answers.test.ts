import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountService, TypeFamily } from "#proto/cti/v1/account_service_pb.js";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { Direction, RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { OTHER_VALUES } from "../../../../../services/platform-proxy/platforms/cti/search.js";
import { startCtiAt } from "../../../../support/platforms/cti.js";
import type { Harness } from "../../../../support/platforms/harness.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { answered, type CtiAnswering, startCtiAnswering } from "./answering.js";

const { getEntity, getEntityStix, deleteEntity } = EntityService.method;

let platform: CtiAnswering;
let harness: Harness;
beforeAll(async () => {
  platform = await startCtiAnswering();
  platform.script(["about"]);
  harness = await startCtiAt(platform.url);
});
afterAll(async () => {
  await harness.close();
  await platform.close();
});

/** Asked for of every target, but in no recorded request. */
const CONTAINER = { parent_types: ["Stix-Domain-Object", "Container"] };

const filters = () => platform.asked.map(({ variables }) => variables.filters).find((one) => one !== undefined);

test("who one is", async () => {
  platform.script(["about"]);
  const me = await harness.call(AccountService.method.whoami, {});
  expect(me).toMatchObject({
    name: "analyst",
    email: "analyst@sallyport.example",
    capabilities: ["KNOWLEDGE", "KNOWLEDGE_KNUPDATE", "KNOWLEDGE_KNUPDATE_KNDELETE", "SETTINGS", "SETTINGS_SETLABELS"],
    markings: ["PAP:CLEAR", "PAP:GREEN"],
    platformVersion: "7.260817.0",
  });
  expect(me.openDraft).toBeUndefined();
});

test("the types there are", async () => {
  platform.script(["entity types", "relation types"]);
  const entities = await harness.call(AccountService.method.listEntityTypes, { family: TypeFamily.ENTITY });
  expect(entities.types).toEqual(["Administrative-Area", "Attack-Pattern"]);
  const relations = await harness.call(AccountService.method.listEntityTypes, { family: TypeFamily.RELATIONSHIP });
  expect(relations.types).toEqual(["derived-from", "related-to", "subtechnique-of", "targets"]);
});

test("a search over everything, and where it goes on: behind the best matches come the newest others", async () => {
  platform.script(["search as analyst"]);
  const found = await harness.call(SearchService.method.searchAll, { query: "intrusion", pageSize: 2 });
  expect(found.objects[0]).toMatchObject({
    id: "1a623de5-aa94-403c-87e3-80f90507b71d",
    type: "Intrusion-Set",
    name: "Intrusion Set 7",
    description: "intrusion set 7",
    markings: ["TLP:AMBER"],
    labels: ["to-review"],
  });
  expect(Number(found.objects[0]?.createdAt?.seconds)).toBe(Date.parse("2026-11-21T12:58:08Z") / 1000);
  expect(found.objects[0]?.author ?? found.objects[0]?.updatedAt).toBeUndefined();
  expect(found.totalSize).toBeGreaterThan(2);
  expect(found.nextPageToken).toBeDefined();
  expect(Object.keys(platform.asked[0]?.variables ?? {}).sort()).toEqual(["after", "first", "search"]);
  await harness.call(SearchService.method.searchAll, {
    query: "intrusion",
    pageSize: 2,
    pageToken: found.nextPageToken ?? "",
  });
  expect(platform.asked.at(-1)?.variables).toMatchObject({
    after: null,
    orderBy: "created_at",
    orderMode: "desc",
    filters: { filters: [{ key: ["ids"], operator: "not_eq", values: found.objects.map(({ id }) => id) }] },
  });
});

test("threat actors and containers in one list, without description, author or marking", async () => {
  platform.script(["actors and containers"]);
  const { threatActors } = await harness.call(EntityService.method.listThreatActors, { order: Order.NEWEST });
  expect(threatActors[0]).toMatchObject({ name: "Feedback 0", description: "", markings: [], aliases: [] });
  expect(platform.asked[0]?.variables).toMatchObject({ orderBy: "created_at", orderMode: "desc" });
});

test("observables and indicators", async () => {
  platform.script(["observables", "indicators"]);
  const { observables } = await harness.call(SearchService.method.listObservables, { query: "198.51.100.1" });
  expect(observables[0]).toMatchObject({
    type: "IPv4-Addr",
    value: "198.51.100.1",
    score: 0,
    description: "",
    markings: [],
    labels: ["apt"],
  });
  expect(filters()).toMatchObject({
    mode: "or",
    filters: [{ operator: "contains", values: ["198.51.100.1"] }, {}, {}],
  });
  const { indicators } = await harness.call(SearchService.method.listIndicators, { patternType: "stix" });
  expect(indicators[0]).toMatchObject({
    name: "Indicator 2",
    pattern: "[domain-name:value = 'ind-2.evil.example']",
    revoked: true,
    score: 22,
    markings: ["TLP:AMBER"],
    labels: ["phishing"],
  });
  expect(Number(indicators[0]?.validUntil?.seconds)).toBe(Date.parse("2026-10-28T00:00:00Z") / 1000);
  expect(platform.asked.at(-1)?.variables.filters).toEqual({
    mode: "and",
    filters: [{ key: ["pattern_type"], values: ["stix"], operator: "eq", mode: "or" }],
    filterGroups: [],
  });
});

test("what is known of a domain, with its indicators and the containers that hold it", async () => {
  platform.script(["lookup", "indicators"]);
  const { known, matches } = await harness.call(SearchService.method.lookupIoc, { value: "c2-0[.]evil[.]example" });
  expect(known).toBe(true);
  expect(matches).toMatchObject([
    {
      value: "c2-0.evil.example",
      type: "Domain-Name",
      score: 0,
      indicators: [{ name: "Indicator 0", revoked: true }],
      containers: [
        { type: "Grouping", name: "Grouping 0" },
        { type: "Report", name: "Report 0 on energy sector intrusion" },
      ],
    },
  ]);
  expect(filters()).toEqual({
    mode: "or",
    filters: [["value"], ["name", ...OTHER_VALUES]].map((key) => ({
      key,
      values: ["c2-0.evil.example", "c2-0.evil.example."],
      operator: "eq",
      mode: "or",
    })),
    filterGroups: [],
  });
});

test("one object, and none where it is hidden", async () => {
  platform.script(["report object"]);
  platform.give({ stixCoreRelationshipsNumber: { count: 3 } });
  const read = await harness.call(getEntity, { objectId: "c6c1665c-7b7d-48ae-926f-4f87a4037e2f" });
  expect(read).toMatchObject({
    object: { type: "Report", name: "Report 0 on energy sector intrusion", description: "report 0" },
    standardId: "report--03e49706-d9b7-5470-a67e-769820d8f0c0",
    externalReferences: [{ sourceName: "vendor 0", url: "https://vendor.example/0", externalId: "V-0" }],
    connections: 3,
  });
  platform.script(["hidden object", "stix of nothing", "observable hidden"]);
  platform.give({ stixObjectOrStixRelationship: null });
  const hidden = "735c1a2e-920c-4f2c-8b90-33f626663a09";
  for (const attempt of [
    () => harness.call(getEntity, { objectId: hidden }),
    () => harness.call(getEntityStix, { objectId: hidden }),
    () => harness.call(deleteEntity, { objectId: hidden }),
    () => harness.call(ObservableService.method.promoteObservableToIndicator, { observableId: hidden }),
  ])
    expect((await refusal(attempt())).code).toBe(Code.NotFound);
});

test("relationships, and one whose ends are hidden", async () => {
  const { listEntityRelationships } = RelationshipService.method;
  platform.script(["set", "relationships"]);
  const { relationships, hidden } = await harness.call(listEntityRelationships, { objectId: "set" });
  expect(hidden).toBe(0);
  expect(relationships[0]).toMatchObject({
    type: "uses",
    direction: Direction.OUTGOING,
    other: { type: "Attack-Pattern", name: "[T1003] Technique 3" },
    confidence: 90,
    description: "",
  });
  expect(platform.asked.at(-1)?.variables.id).toEqual(["bb2d47e9-802f-4e70-8145-e52b3161b93f"]);
  platform.script(["set", "hidden end"]);
  const masked = await harness.call(listEntityRelationships, { objectId: "set" });
  expect(masked).toMatchObject({ relationships: [], hidden: 1, totalSize: 1 });
  const told = JSON.stringify(masked);
  for (const id of ["735c1a2e-920c-4f2c-8b90-33f626663a09", "f349da6d-28c6-4a9c-853b-90804f95f7b5"])
    expect(told).not.toContain(id);
});

test("counts, rankings and history", async () => {
  platform.script(["count", "set", "top malware", "top without objects", "history"]);
  // Each of a ranking is asked for again, as the caller.
  const top = answered("top malware").stixCoreRelationshipsDistribution as { entity: object }[];
  platform.give({ stixCoreObjects: { edges: top.map(({ entity }) => ({ node: entity })) } });
  expect(await harness.call(InsightService.method.countEntities, {})).toMatchObject({ count: 16 });
  expect(platform.asked[0]?.variables).toEqual({});
  const { related } = await harness.call(InsightService.method.getTopRelatedEntities, { objectId: "set", limit: 5 });
  expect(related).toMatchObject([
    { type: "Malware", name: "Malware 0", count: 1 },
    { type: "Malware", name: "Malware 10", count: 1 },
  ]);
  const { entries } = await harness.call(InsightService.method.listEntityChanges, { objectId: "set" });
  expect(entries).toMatchObject([
    { user: "analyst", act: "update", commitMessage: "", fields: ["Description", "Malware types"] },
    { user: "analyst", act: "create", message: "creates a Malware `Op malware mwqf1mns`", fields: [] },
  ]);
});

test("reports and what a container holds", async () => {
  const { listReports, getReport, listContainerObjects } = ContainerService.method;
  platform.script(["reports", "report"]);
  const { reports } = await harness.call(listReports, { reportType: "threat-report" });
  expect(reports[0]).toMatchObject({
    name: "Report 8 on energy sector intrusion",
    reportTypes: ["threat-report"],
    markings: ["TLP:CLEAR"],
    labels: ["apt"],
  });
  // The recorded request for one report did not ask for what a list tells of it.
  const page = answered("reports").reports as { edges: { node: object }[] };
  platform.script([]);
  // Nor did it ask for the rows that are counted: the number that it was told, 8, is of other things too.
  const objects = { edges: [{ cursor: "a" }, { cursor: "b" }], pageInfo: { hasNextPage: false } };
  platform.give({ report: { ...page.edges[0]?.node, ...(answered("report").report as object), objects } });
  const report = await harness.call(getReport, { reportId: reports[0]!.id });
  expect(reports[0]?.author).toBeUndefined();
  expect(report).toMatchObject({
    report: { author: { name: "Organization 3" } },
    content: "",
    contentTruncated: false,
    confidence: 60,
    reliability: "",
    objectCount: 2,
    notes: [],
  });
  platform.script(["contents"]);
  platform.give({ stixCoreObject: { ...(answered("report object").stixCoreObject as object), ...CONTAINER } });
  const contents = await harness.call(listContainerObjects, { containerId: "x", types: ["stix-core-relationship"] });
  expect(contents).toMatchObject({
    objects: [
      { type: "Intrusion-Set", name: "Op set mwqf1mns", relationship: false },
      { type: "IPv4-Addr", name: "203.0.113.190", relationship: false },
    ],
  });
});

test("a relationship without dates is told without dates", async () => {
  const { createRelationship } = RelationshipService.method;
  const none = {
    stixCoreRelationships: { edges: [], pageInfo: { endCursor: "", hasNextPage: false, globalCount: 0 } },
  };
  for (const [name, start] of [
    ["relationship made", "2026-05-01T00:00:00Z"],
    ["relationship made without dates", undefined],
  ] as const) {
    platform.script(["relation types", name]);
    const made = answered(name).stixCoreRelationshipAdd as { from: { id: string }; to: { id: string } };
    platform.give({ stixCoreObjects: { edges: [made.from, made.to].map((node) => ({ node })) }, ...none });
    const { relationship, notices } = await harness.call(createRelationship, {
      fromId: made.from.id,
      toId: made.to.id,
      relationshipType: "targets",
    });
    expect(relationship).toMatchObject({ type: "uses", from: { type: "Intrusion-Set" }, to: { type: "Malware" } });
    expect(relationship?.startTime === undefined).toBe(start === undefined);
    expect(relationship?.stopTime).toBeUndefined();
    expect(notices).toEqual([]);
  }
});

test("labels and promotion", async () => {
  platform.script(["set", "labels", "labelled", "unlabelled"]);
  const { removeLabels } = AnnotationService.method;
  const removed = await harness.call(removeLabels, { objectId: "set", labels: ["ransomware"] });
  expect(removed.result?.notices).toEqual(["the object did not have ransomware"]);
  platform.script(["observable", "promoted"]);
  const { promoteObservableToIndicator } = ObservableService.method;
  const { indicator, created } = await harness.call(promoteObservableToIndicator, { observableId: "x" });
  expect(created).toBe(true);
  expect(indicator).toMatchObject({ pattern: "[ipv4-addr:value = '203.0.113.190']", patternType: "stix" });
});
