import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountService, TypeFamily } from "#proto/cti/v1/account_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { Direction, RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { entities } from "./asking.js";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("whoami tells what the account holds on the platform, implied capabilities included", async () => {
  const me = await harness.call(AccountService.method.whoami, {});
  expect(me.email).toBe("analyst@sallyport.example");
  expect(me.capabilities).toEqual(["KNOWLEDGE", "KNOWLEDGE_KNPARTICIPATE", "KNOWLEDGE_KNUPDATE"]);
  expect(me.markings).toContain("TLP:AMBER");
  expect(me.markings).not.toContain("TLP:RED");
  expect(me.platformVersion).toMatch(/^\d+\.\d+\.\d+$/);
  const admin = await harness.call(AccountService.method.whoami, {}, "admin");
  expect(admin.capabilities).toEqual(["*"]);
});

test("a caller without an account is told the likely reasons and nothing of the platform", async () => {
  const error = await refusal(harness.call(AccountService.method.whoami, {}, "stranger"));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).toContain("stranger@sallyport.example");
  expect(error.rawMessage).toContain("no account has this e-mail address");
});

test("a caller whose e-mail only folds to an account is refused", async () => {
  const error = await refusal(harness.call(AccountService.method.whoami, {}, "ánalyst"));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).toContain("another e-mail address");
});

test("an account without rights is told that it lacks them", async () => {
  const error = await refusal(harness.call(SearchService.method.searchAll, { query: "phishing" }, "nobody"));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).toContain("lacks the right");
});

test("entity types are listed by family in their exact spelling", async () => {
  const { types } = await harness.call(AccountService.method.listEntityTypes, { family: TypeFamily.ENTITY });
  expect(types).toContain("Intrusion-Set");
  expect(types).toContain("SecurityPlatform");
  expect(types).not.toContain("IPv4-Addr");
  const relations = await harness.call(AccountService.method.listEntityTypes, { family: TypeFamily.RELATIONSHIP });
  expect(relations.types).toContain("uses");
});

test("one object is read by internal and by STIX id, and as STIX", async () => {
  const [set] = await entities(harness, "Intrusion-Set");
  const read = await harness.call(EntityService.method.getEntity, { objectId: set!.standard_id });
  expect(read.object?.id).toBe(set!.id);
  expect(read.connections).toBeGreaterThan(0);
  const { stix } = await harness.call(EntityService.method.getEntityStix, { objectId: set!.id });
  expect(stix).toMatchObject({ id: set!.standard_id, type: "intrusion-set", spec_version: "2.1" });
});

test("what is hidden reads like what does not exist", async () => {
  const { searchEntities } = SearchService.method;
  const red = await harness.call(searchEntities, { types: ["Malware"], filter: { markings: ["TLP:RED"] } }, "admin");
  const { id } = red.entities[0]!;
  const unknown = "11111111-1111-4111-8111-111111111111";
  const { getEntity, getEntityStix } = EntityService.method;
  for (const read of [
    (one: string) => harness.call(getEntity, { objectId: one }),
    (one: string) => harness.call(getEntityStix, { objectId: one }),
  ]) {
    const hidden = await refusal(read(id));
    const absent = await refusal(read(unknown));
    expect(hidden.code).toBe(Code.NotFound);
    expect(hidden.rawMessage.replace(id, "")).toBe(absent.rawMessage.replace(unknown, ""));
  }
});

test("threat actors are groups and individuals, with their other names", async () => {
  const page = await harness.call(EntityService.method.listThreatActors, { pageSize: 100 });
  const types = new Set(page.threatActors.map(({ type }) => type));
  expect(types).toEqual(new Set(["Threat-Actor-Group", "Threat-Actor-Individual"]));
  expect(page.threatActors.every(({ aliases }) => aliases.length > 0)).toBe(true);
});

test("a relationship with a hidden end is counted but never told, not even by its id", async () => {
  const { listEntityRelationships } = RelationshipService.method;
  const { stixDomainObjects } = await harness.ask<{
    stixDomainObjects: { edges: { node: { id: string } }[] };
  }>("reader", '{ stixDomainObjects(types: ["Intrusion-Set"], first: 40) { edges { node { id } } } }');
  let hidden = 0;
  for (const { node } of stixDomainObjects.edges) {
    const own = await harness.call(listEntityRelationships, { objectId: node.id, pageSize: 100 }, "reader");
    const whole = await harness.call(listEntityRelationships, { objectId: node.id, pageSize: 100 }, "admin");
    expect(own.relationships.length + own.hidden).toBe(whole.relationships.length);
    const told = JSON.stringify(own, (_, value) => (typeof value === "bigint" ? String(value) : value));
    const visible = new Set(own.relationships.map(({ other }) => other?.id));
    for (const { other } of whole.relationships) if (!visible.has(other!.id)) expect(told).not.toContain(other!.id);
    hidden += own.hidden;
  }
  expect(hidden).toBeGreaterThan(0);
});

test("relationships are narrowed by type and other end, and an unknown type is refused", async () => {
  const { listEntityRelationships } = RelationshipService.method;
  const [set] = await entities(harness, "Intrusion-Set");
  const { relationships } = await harness.call(listEntityRelationships, {
    objectId: set!.standard_id,
    relationshipTypes: ["uses"],
    otherTypes: ["Malware"],
  });
  expect(relationships.length).toBeGreaterThan(0);
  for (const { type, direction, other } of relationships) {
    expect([type, direction, other?.type]).toEqual(["uses", Direction.OUTGOING, "Malware"]);
  }
  const [{ other }] = relationships as [(typeof relationships)[0]];
  const back = await harness.call(listEntityRelationships, { objectId: other!.id, pageSize: 100 });
  expect(back.relationships).toContainEqual(
    expect.objectContaining({
      id: relationships[0]!.id,
      direction: Direction.INCOMING,
      other: expect.objectContaining({ id: set!.id }),
    }),
  );
  const wrong = await refusal(
    harness.call(listEntityRelationships, { objectId: set!.id, relationshipTypes: ["loves"] }),
  );
  expect(wrong.code).toBe(Code.InvalidArgument);
  expect(wrong.rawMessage).toContain("attributed-to");
});

test("the other end is meant by its type, also where the object itself is of it", async () => {
  const { listEntityRelationships } = RelationshipService.method;
  const found = await harness.call(RelationshipService.method.listEntityRelationships, {
    objectId: (await variant()).id,
    otherTypes: ["Malware"],
    pageSize: 100,
  });
  expect(found.relationships.length).toBeGreaterThan(0);
  for (const { other } of found.relationships) expect(other?.type).toBe("Malware");
  const whole = await harness.call(listEntityRelationships, { objectId: found.object!.id, pageSize: 100 });
  expect(whole.totalSize).toBeGreaterThan(found.totalSize);

  /** A malware that is a variant of another, as this user may see. */
  async function variant(): Promise<{ id: string }> {
    const { stixCoreRelationships } = await harness.ask<{
      stixCoreRelationships: { edges: { node: { from: { id: string } | null; to: { id: string } | null } }[] };
    }>(
      "analyst",
      '{ stixCoreRelationships(relationship_type: ["variant-of"], first: 50) { edges { node { from { ... on Malware { id } } to { ... on Malware { id } } } } } }',
    );
    return stixCoreRelationships.edges.find(({ node }) => node.from !== null && node.to !== null)!.node.from!;
  }
});

test("the most related objects are ranked over both directions", async () => {
  const [set] = await entities(harness, "Intrusion-Set");
  const { related } = await harness.call(InsightService.method.getTopRelatedEntities, {
    objectId: set!.standard_id,
    limit: 50,
  });
  const counts = related.map(({ count }) => count);
  expect(counts).toEqual([...counts].sort((a, b) => b - a));
  const { relationships } = await harness.call(RelationshipService.method.listEntityRelationships, {
    objectId: set!.id,
    pageSize: 100,
  });
  const others = new Set(relationships.map(({ other }) => other?.id));
  expect(new Set(related.map(({ id }) => id))).toEqual(others);
});

test("counts follow what the caller may see and end where the period ends", async () => {
  const { countEntities } = InsightService.method;
  const [admin, analyst, reader] = await Promise.all(
    ["admin", "analyst", "reader"].map((as) => harness.call(countEntities, { types: ["Malware"] }, as)),
  );
  expect(admin!.count).toBeGreaterThan(analyst!.count);
  expect(analyst!.count).toBeGreaterThan(reader!.count);
  const before = await harness.call(countEntities, { filter: { createdBefore: { seconds: 0n, nanos: 0 } } });
  expect(before.count).toBe(0);
});

test("reports are listed newest first, by date and by what they hold", async () => {
  const { listReports, getReport, listContainerObjects } = ContainerService.method;
  const { reports } = await harness.call(listReports, { pageSize: 30 });
  const times = reports.map(({ published }) => Number(published?.seconds));
  expect(times).toEqual([...times].sort((a, b) => b - a));
  const report = await harness.call(getReport, { reportId: reports[0]!.id });
  expect(report.objectCount).toBeGreaterThan(0);
  const contents = await harness.call(listContainerObjects, { containerId: reports[0]!.id, pageSize: 100 });
  expect(contents.totalSize).toBe(report.objectCount);
  expect(contents.objects.some(({ relationship }) => relationship)).toBe(true);
  const held = contents.objects.find(({ relationship }) => !relationship)!;
  const holding = await harness.call(listReports, { objectId: held.id, pageSize: 100 });
  expect(holding.reports.map(({ id }) => id)).toContain(reports[0]!.id);
  const only = await harness.call(listContainerObjects, { containerId: reports[0]!.id, types: ["Intrusion-Set"] });
  expect(only.objects.every(({ type }) => type === "Intrusion-Set")).toBe(true);
});

test("a relationship in a report does not name an end that the caller may not see", async () => {
  const { listReports, listContainerObjects } = ContainerService.method;
  const { reports } = await harness.call(listReports, { pageSize: 100 }, "reader");
  const visible = await harness.call(
    SearchService.method.searchEntities,
    { types: ["Malware"], filter: { markings: ["TLP:RED"] }, pageSize: 100 },
    "admin",
  );
  const secret = visible.entities.map(({ name }) => name);
  let masked = 0;
  for (const { id } of reports.slice(0, 60)) {
    const { objects } = await harness.call(listContainerObjects, { containerId: id, pageSize: 100 }, "reader");
    for (const object of objects) {
      if (object.name.includes("(not visible to you)")) masked += 1;
      for (const name of secret) expect(object.name).not.toContain(name);
    }
  }
  expect(masked).toBeGreaterThan(0);
});

test("every exchange names the live graph, the caller and the tool", async () => {
  await harness.call(SearchService.method.searchAll, { query: "phishing" });
  const last = harness.sandbox.audit.at(-1)!;
  expect(last.draft).toBe("");
  expect(last.user).toBe("analyst@sallyport.example");
  expect(last.userAgent).toBe("sallyport-test/1.0 (mcp; tool=SearchAll)");
});
