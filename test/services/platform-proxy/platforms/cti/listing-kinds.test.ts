import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EntityListService } from "#proto/cti/v1/entity_list_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { entities, make, markingId } from "./asking.js";

const list = EntityListService.method;
const { updateEntity, deleteEntity, createEntity, getEntity, listThreatActors } = EntityService.method;

let harness: CtiHarness;
let secret: Record<string, readonly string[]>;
beforeAll(async () => {
  harness = await startCti();
  secret = { objectMarking: [await markingId(harness, "TLP:RED")] };
});
afterAll(() => harness.close());

/** A list of one kind, and the type that the platform itself is asked for. */
const KINDS = [
  [listThreatActors, "threatActors", "Threat-Actor", "Threat-Actor-Group"],
  [list.listIntrusionSets, "intrusionSets", "Intrusion-Set", "Intrusion-Set"],
  [list.listCampaigns, "campaigns", "Campaign", "Campaign"],
  [list.listMalware, "malware", "Malware", "Malware"],
  [list.listTools, "tools", "Tool", "Tool"],
  [list.listAttackPatterns, "attackPatterns", "Attack-Pattern", "Attack-Pattern"],
  [list.listIncidents, "incidents", "Incident", "Incident"],
  [list.listIdentities, "identities", "Identity", "Sector"],
  [list.listLocations, "locations", "Location", "City"],
  [list.listInfrastructures, "infrastructures", "Infrastructure", "Infrastructure"],
  [list.listCoursesOfAction, "coursesOfAction", "Course-Of-Action", "Course-Of-Action"],
] as const;

interface Listed {
  readonly rows: { readonly id: string; readonly name: string }[];
  readonly totals: number[];
}

async function everything(method: unknown, member: string, more: object, as: string): Promise<Listed> {
  const listed: Listed = { rows: [], totals: [] };
  let pageToken = "";
  do {
    const said = (await harness.call(method as typeof list.listTools, { pageSize: 50, pageToken, ...more }, as)) as {
      nextPageToken?: string;
      totalSize: number;
    };
    listed.rows.push(...(said as unknown as Record<string, Listed["rows"]>)[member]!);
    listed.totals.push(said.totalSize);
    pageToken = said.nextPageToken ?? "";
  } while (pageToken !== "");
  return listed;
}

test.each(KINDS)("%s has each of its kind that a person may see, once", async (method, member, type, made) => {
  const hidden = await make(harness, made, { name: `Hidden ${made}`, ...secret });
  for (const as of ["reader", "admin"]) {
    const expected = await entities(harness, type, 2_000, as);
    const { rows, totals } = await everything(method, member, { order: Order.NAME }, as);
    expect(rows.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
    expect(new Set(totals)).toEqual(new Set([expected.length]));
    expect(rows.some(({ id }) => id === hidden)).toBe(as === "admin");
  }
});

test("a row has what one of its kind is chosen by", async () => {
  const name = "Chosen by its fields";
  await make(harness, "Malware", { name, aliases: ["Another"], malware_types: ["ransomware"], is_family: true });
  const first_seen = "2026-01-01T00:00:00.000Z";
  await make(harness, "Intrusion-Set", { name, primary_motivation: "ideology", resource_level: "team", first_seen });
  await make(harness, "Incident", { name, incident_type: "data-leak", severity: "high" });
  await make(harness, "Sector", { name, x_opencti_aliases: ["A sector"] });
  const query = `"${name}"`;
  const { malware } = await harness.call(list.listMalware, { query });
  expect(malware).toMatchObject([{ name, aliases: ["Another"], malwareTypes: ["ransomware"], isFamily: true }]);
  const { intrusionSets } = await harness.call(list.listIntrusionSets, { query });
  expect(intrusionSets).toMatchObject([{ name, primaryMotivation: "ideology", resourceLevel: "team" }]);
  expect(intrusionSets[0]!.firstSeen?.seconds).toBe(BigInt(Date.parse(first_seen) / 1000));
  expect(intrusionSets[0]!.lastSeen).toBeUndefined();
  const { incidents } = await harness.call(list.listIncidents, { query });
  expect(incidents).toMatchObject([{ name, incidentType: "data-leak", severity: "high" }]);
  const { identities } = await harness.call(list.listIdentities, { query, types: ["Sector"] });
  expect(identities).toMatchObject([{ name, type: "Sector", aliases: ["A sector"] }]);
});

test("techniques are narrowed by phase, and a phase that there is not is no empty list", async () => {
  const { attackPatterns } = await harness.call(list.listAttackPatterns, { killChainPhase: "initial-access" });
  expect(attackPatterns.length).toBeGreaterThan(0);
  for (const one of attackPatterns) expect(one.killChainPhases).toContain("initial-access");
  const error = await refusal(harness.call(list.listAttackPatterns, { killChainPhase: "no such phase" }));
  expect([error.code, error.rawMessage]).toEqual([Code.NotFound, expect.stringContaining("get_attack_matrix")]);
});

test("a page token of one kind is not one of another", async () => {
  const { nextPageToken } = await harness.call(list.listMalware, { pageSize: 1 });
  const error = await refusal(harness.call(list.listTools, { pageSize: 1, pageToken: nextPageToken! }));
  expect(error.code).toBe(Code.InvalidArgument);
});

test("an organization is read, and never created, changed or deleted", async () => {
  const [organization] = await entities(harness, "Organization", 1, "admin");
  const objectId = organization!.id;
  const { identities } = await harness.call(list.listIdentities, { types: ["Organization"], pageSize: 100 });
  expect(identities.map(({ id }) => id)).toContain(objectId);
  const attempts = [
    harness.call(updateEntity, { objectId, description: "x" }, "admin"),
    harness.call(deleteEntity, { objectId }, "admin"),
    harness.call(createEntity, { type: "Organization", name: "Made here" }, "admin"),
  ];
  const codes = (await Promise.all(attempts.map(refusal))).map(({ code }) => code);
  expect(codes).toEqual([Code.FailedPrecondition, Code.FailedPrecondition, Code.InvalidArgument]);
  const read = await harness.call(getEntity, { objectId });
  expect(read.object?.name).toBe(organization!.name);
});
