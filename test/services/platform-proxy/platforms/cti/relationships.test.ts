import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SchemaService } from "#proto/cti/v1/schema_service_pb.js";
import { SightingService } from "#proto/cti/v1/sighting_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { entities, make, markingId, relate, sight } from "./asking.js";
import { fresh } from "./making.js";

const { getRelationship, listRelationships, createRelationship, updateRelationship, deleteRelationship } =
  RelationshipService.method;
const { listSightings, getSighting, createSighting, updateSighting, deleteSighting } = SightingService.method;
const { listRelationshipTypes, listFilterKeys } = SchemaService.method;

let harness: CtiHarness;
let red: { readonly objectMarking: readonly string[] };
beforeAll(async () => {
  harness = await startCti();
  red = { objectMarking: [await markingId(harness, "TLP:RED")] };
});
afterAll(() => harness.close());

const at = (time: string) => timestampFromDate(new Date(time));
const malware = (more = {}) => make(harness, "Malware", { name: fresh("Malware"), confidence: 0, ...more });
const set = () => make(harness, "Intrusion-Set", { name: fresh("Set"), confidence: 0 });

test("a relationship is read with what belongs to it; of a hidden end nothing is told", async () => {
  const [from, to, hidden] = [await set(), await malware(), await malware(red)];
  const open = await relate(harness, from, "uses", to, { description: "since long", confidence: 40 });
  const half = await relate(harness, from, "uses", hidden);
  const read = await harness.call(getRelationship, { relationshipId: open });
  expect(read.relationship).toMatchObject({
    id: open,
    type: "uses",
    from: { id: from },
    to: { id: to },
    confidence: 40,
  });
  const told = await harness.call(getRelationship, { relationshipId: half });
  expect([told.relationship?.from?.id, told.relationship?.to]).toEqual([from, undefined]);
  const whole = await harness.call(getRelationship, { relationshipId: half }, "admin");
  expect(whole.relationship?.to?.id).toBe(hidden);
  const secret = await relate(harness, from, "uses", await malware(), red);
  expect((await refusal(harness.call(getRelationship, { relationshipId: secret }))).code).toBe(Code.NotFound);
});

test("relationships are listed by ends, types, start and filters, over all pages", async () => {
  const [from, hidden] = [await set(), await malware(red)];
  const made: string[] = [];
  for (let i = 0; i < 5; i++)
    made.push(await relate(harness, from, "uses", await malware(), { start_time: `2026-0${i + 1}-01T00:00:00.000Z` }));
  made.push(await relate(harness, from, "uses", hidden, { start_time: "2026-09-01T00:00:00.000Z" }));
  await relate(harness, from, "uses", await malware(), red);
  const rows = [];
  let pageToken = "";
  do {
    const page = await harness.call(listRelationships, { fromId: from, pageSize: 2, pageToken });
    expect(page.totalSize).toBe(6);
    rows.push(...page.relationships);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(rows.map(({ id }) => id).toSorted()).toEqual(made.toSorted());
  // What was asked for is told once.
  expect(rows.filter((row) => row.from !== undefined)).toEqual([]);
  const all = await harness.call(listRelationships, { fromId: from });
  expect([all.from?.id, all.to]).toEqual([from, undefined]);
  expect(JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(hidden);
  const since = await harness.call(listRelationships, {
    fromId: from,
    startedAfter: at("2026-03-01T00:00:00Z"),
    startedBefore: at("2026-04-01T00:00:00Z"),
  });
  expect(since.relationships.map(({ id }) => id).toSorted()).toEqual([made[2], made[3]].toSorted());
  const typed = await harness.call(listRelationships, { fromId: from, toTypes: ["Tool"] });
  expect(typed.totalSize).toBe(0);
  const wrong = await refusal(harness.call(listRelationships, { fromTypes: ["malware"] }));
  expect(wrong.rawMessage).toContain(
    "from_types: malware is not a type that this argument accepts; did you mean Malware?",
  );
});

test("what is left out of an update stays, and a period that ends before it begins is refused", async () => {
  const relationshipId = await relate(harness, await set(), "uses", await malware(), {
    description: "before",
    start_time: "2026-01-01T00:00:00.000Z",
    confidence: 30,
  });
  const { relationship, notices } = await harness.call(updateRelationship, {
    relationshipId,
    stopTime: at("2026-02-01T00:00:00Z"),
    confidence: 95,
  });
  expect(relationship).toMatchObject({ description: "before", confidence: 80 });
  expect(relationship?.stopTime).toEqual(at("2026-02-01T00:00:00Z"));
  expect(notices).toEqual(["the confidence is 80, not 95: OpenCTI limits it to your account's maximum"]);
  const error = await refusal(
    harness.call(updateRelationship, { relationshipId, stopTime: at("2025-01-01T00:00:00Z") }),
  );
  expect([error.code, error.rawMessage]).toEqual([Code.InvalidArgument, expect.stringContaining("stop_time")]);
});

test("a relationship is deleted by id or by its ends, and it is said where there is none or several", async () => {
  const [fromId, toId] = [await set(), await malware()];
  const ends = { fromId, toId, relationshipType: "uses" };
  const none = await refusal(harness.call(deleteRelationship, ends));
  expect([none.code, none.rawMessage]).toEqual([Code.NotFound, expect.stringContaining("nothing was deleted")]);
  const one = await relate(harness, fromId, "uses", toId, { start_time: "2026-01-01T00:00:00.000Z", confidence: 0 });
  const two = await relate(harness, fromId, "uses", toId, { start_time: "2026-06-01T00:00:00.000Z", confidence: 0 });
  const several = await refusal(harness.call(deleteRelationship, ends));
  expect(several.code).toBe(Code.FailedPrecondition);
  for (const id of [one, two]) expect(several.rawMessage).toContain(id);
  expect((await harness.call(deleteRelationship, { relationshipId: one })).deleted).toMatchObject({
    id: one,
    from: { id: fromId },
  });
  expect((await harness.call(deleteRelationship, ends)).deleted?.id).toBe(two);
  expect((await harness.call(listRelationships, { fromId })).totalSize).toBe(0);
  expect((await refusal(harness.call(deleteRelationship, { relationshipId: one }))).code).toBe(Code.NotFound);
  const mixed = await refusal(harness.call(deleteRelationship, { relationshipId: one, fromId }));
  expect(mixed.code).toBe(Code.InvalidArgument);
});

test("an object is not related to itself, and a hidden relationship of the same two is not told", async () => {
  const [fromId, toId] = [await set(), await malware()];
  const self = await refusal(
    harness.call(createRelationship, { fromId, toId: fromId, relationshipType: "related-to" }),
  );
  expect([self.code, self.rawMessage]).toEqual([Code.InvalidArgument, expect.stringContaining("same object")]);
  const secret = await relate(harness, fromId, "uses", toId, red);
  const error = await refusal(harness.call(createRelationship, { fromId, toId, relationshipType: "uses" }));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).not.toContain(secret);
});

test("a sighting is recorded once, and what is seen again is counted by changing it", async () => {
  const [sector] = await entities(harness, "Sector", 1, "reader");
  const [fromId, toId] = [await malware(), sector!.id];
  const first = { firstSeen: at("2026-03-01T00:00:00Z"), lastSeen: at("2026-03-02T00:00:00Z") };
  const { sighting, notices } = await harness.call(createSighting, {
    fromId,
    toId,
    count: 3,
    ...first,
    description: "in the mail",
  });
  expect([sighting, notices]).toMatchObject([
    { count: 3, from: { id: fromId }, to: { id: toId }, negative: false },
    [],
  ]);
  const again = await refusal(
    harness.call(createSighting, { fromId, toId, count: 2, firstSeen: at("2026-03-10T00:00:00Z") }),
  );
  expect([again.code, again.rawMessage]).toEqual([Code.AlreadyExists, expect.stringContaining(sighting!.id)]);
  expect(again.rawMessage).toContain("the count 3 ");
  const changed = await harness.call(updateSighting, {
    sightingId: sighting!.id,
    count: 5,
    lastSeen: at("2026-03-10T00:00:00Z"),
  });
  expect(changed).toMatchObject({ sighting: { count: 5, description: "in the mail" }, notices: [] });
  const later = await harness.call(createSighting, { fromId, toId, lastSeen: at("2026-08-01T00:00:00Z") });
  expect(later.sighting?.count).toBe(1);
  const read = await harness.call(getSighting, { sightingId: sighting!.id }, "reader");
  expect(read).toMatchObject({ sighting: { count: 5, description: "in the mail", from: { id: fromId } } });
  expect(read.standardId).toMatch(/^sighting--/);
  const listed = await harness.call(listSightings, { fromId });
  // What was asked for is told once, and what only get_sighting says is not told here.
  expect([listed.from?.id, listed.to]).toEqual([fromId, undefined]);
  expect(listed.sightings.filter(({ from, description }) => from !== undefined || description !== "")).toEqual([]);
  expect(listed.sightings.map(({ id }) => id)).toEqual([later.sighting!.id, sighting!.id]);
  const recent = await harness.call(listSightings, { toId, seenAfter: at("2026-07-01T00:00:00Z") });
  expect(recent.sightings.map(({ id }) => id)).toContain(later.sighting!.id);
  expect(recent.sightings.map(({ id }) => id)).not.toContain(sighting!.id);
  const { deleted } = await harness.call(deleteSighting, { sightingId: later.sighting!.id });
  expect(deleted?.id).toBe(later.sighting!.id);
  expect((await harness.call(listSightings, { fromId })).totalSize).toBe(1);
  const gone = await refusal(harness.call(deleteSighting, { sightingId: later.sighting!.id }));
  expect(gone.code).toBe(Code.NotFound);
});

test("of a sighting's hidden end nothing is told", async () => {
  const [sector] = await entities(harness, "Sector", 1, "reader");
  const hidden = await malware(red);
  const made = await sight(harness, hidden, sector!.id);
  const { sightings } = await harness.call(listSightings, { toId: sector!.id, pageSize: 100 });
  const row = sightings.find(({ id }) => id === made);
  expect([row?.from, row?.to]).toEqual([undefined, undefined]);
  const { sighting } = await harness.call(getSighting, { sightingId: made });
  expect([sighting?.from, sighting?.to?.id]).toEqual([undefined, sector!.id]);
  const attempt = await refusal(harness.call(createSighting, { fromId: hidden, toId: sector!.id }));
  expect(attempt.code).toBe(Code.NotFound);
});

test("the relationship types that are allowed are told by either end", async () => {
  const both = await harness.call(listRelationshipTypes, { fromType: "Intrusion-Set", toType: "Malware" }, "nobody");
  expect(both.rules.map(({ type }) => type)).toEqual(["related-to", "uses"]);
  const { rules } = await harness.call(listRelationshipTypes, { fromType: "Indicator" });
  expect(rules.find(({ type }) => type === "indicates")?.otherTypes).toContain("Malware");
  const none = await refusal(harness.call(listRelationshipTypes, {}));
  expect(none.code).toBe(Code.InvalidArgument);
  const { keys } = await harness.call(listFilterKeys, { type: "Malware" }, "nobody");
  expect(keys).toContainEqual(expect.objectContaining({ name: "malware_types", multiple: true }));
});
