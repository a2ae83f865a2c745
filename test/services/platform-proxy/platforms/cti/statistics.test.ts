import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import {
  DateField,
  Interval,
  RelationshipDateField,
  RelationshipField,
  StatisticsService,
} from "#proto/cti/v1/statistics_service_pb.js";
import { TechniqueService } from "#proto/cti/v1/technique_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { entities, make, markingId, relate } from "./asking.js";
import { fresh } from "./making.js";

const statistics = StatisticsService.method;
const { listEntityTtps, getAttackMatrix } = TechniqueService.method;
const { mergeEntities, getEntity, createEntity } = EntityService.method;

let harness: CtiHarness;
let red: { readonly objectMarking: readonly string[] };
/** A set that uses two malware twice each, one tool, three techniques, and a hidden malware. */
let set: string;
let hidden: string;
beforeAll(async () => {
  harness = await startCti();
  red = { objectMarking: [await markingId(harness, "TLP:RED")] };
  set = await make(harness, "Intrusion-Set", { name: "Counted set" });
  hidden = await make(harness, "Malware", { name: "Hidden and counted", ...red });
  for (let i = 0; i < 2; i++) {
    const id = await make(harness, "Malware", { name: `Counted malware ${i}`, malware_types: ["ransomware"] });
    await relate(harness, set, "uses", id, { start_time: "2026-01-10T00:00:00.000Z" });
    await relate(harness, set, "uses", id, { start_time: "2026-05-10T00:00:00.000Z" });
  }
  await relate(harness, set, "uses", await make(harness, "Tool", { name: "Counted tool" }), {
    start_time: "2026-02-20T00:00:00.000Z",
  });
  await relate(harness, set, "uses", hidden, { start_time: "2026-02-21T00:00:00.000Z" });
  await relate(harness, set, "uses", await make(harness, "Malware", { name: "Seen, its tie is not" }), red);
  await make(harness, "Report", { name: "Holds the counted", published: "2026-03-01T00:00:00.000Z", objects: [set] });
  const techniques = await entities(harness, "Attack-Pattern", 3, "reader");
  for (const { id } of techniques) await relate(harness, set, "uses", id, { start_time: "2026-04-01T00:00:00.000Z" });
  await relate(harness, set, "uses", techniques[0]!.id, { start_time: "2026-08-01T00:00:00.000Z" });
});
afterAll(() => harness.close());

const at = (time: string) => timestampFromDate(new Date(time));

test("one object in numbers: what one may not see is not in them", async () => {
  const said = await harness.call(statistics.getEntityStatistics, { objectId: set });
  expect(said).toMatchObject({
    relationships: 9,
    relatedObjects: 6,
    byRelationshipType: [{ name: "uses", count: 9 }],
    byOtherType: [
      { name: "Attack-Pattern", count: 4 },
      { name: "Malware", count: 4 },
      { name: "Tool", count: 1 },
    ],
    byContainerType: [{ name: "Report", count: 1 }],
  });
  const all = await harness.call(statistics.getEntityStatistics, { objectId: set }, "admin");
  expect([all.relationships, all.relatedObjects]).toEqual([11, 8]);
});

test("relationships are counted by what they are, and in time", async () => {
  const count = (more: object, as = "analyst") => harness.call(statistics.countRelationships, more, as);
  expect((await count({ objectId: set, otherTypes: ["Malware"] })).count).toBe(4);
  expect((await count({ objectId: set, otherTypes: ["Malware"] }, "admin")).count).toBe(6);
  expect((await count({ relationshipTypes: ["uses"] })).count).toBeGreaterThan(100);
  expect((await refusal(count({ otherTypes: ["Malware"] }))).code).toBe(Code.InvalidArgument);
  const by = async (field: RelationshipField) =>
    (await harness.call(statistics.getRelationshipDistribution, { objectId: set, field })).buckets.map(
      ({ name, count: n }) => `${name} ${n}`,
    );
  expect(await by(RelationshipField.OTHER_TYPE)).toEqual(["Attack-Pattern 4", "Malware 4", "Tool 1"]);
  expect(await by(RelationshipField.MARKING)).toEqual(["unknown 9"]);
  const asked = {
    objectId: set,
    interval: Interval.QUARTER,
    start: at("2026-02-02T00:00:00Z"),
    end: at("2026-09-30T00:00:00Z"),
  };
  const { periods } = await harness.call(statistics.getRelationshipTimeseries, asked);
  expect(periods.map(({ start, count: n }) => `${timestampDate(start!).toISOString().slice(0, 10)} ${n}`)).toEqual([
    "2026-01-01 3",
    "2026-04-01 5",
    "2026-07-01 1",
  ]);
  const came = await harness.call(statistics.getRelationshipTimeseries, {
    ...asked,
    interval: Interval.YEAR,
    end: undefined,
    dateField: RelationshipDateField.CREATED_AT,
  });
  expect(came.periods.reduce((sum, one) => sum + one.count, 0)).toBe(9);
});

test("objects are counted by a field, in their own spelling; hidden authors are not named", async () => {
  const by = async (field: string, more: object = {}, as = "analyst") =>
    (await harness.call(statistics.getEntityDistribution, { field, query: '"Counted malware"', ...more }, as)).buckets;
  expect(await by("malware_types", { types: ["Malware"] })).toMatchObject([{ name: "ransomware", count: 2 }]);
  expect(await by("is_family", { types: ["Malware"] })).toMatchObject([{ name: "unknown", count: 2 }]);
  const types = await by("entity_type", { query: "", limit: 100 });
  expect(types.map(({ name }) => name)).toEqual(expect.arrayContaining(["IPv4-Addr", "StixFile", "Intrusion-Set"]));
  const author = await make(harness, "Individual", { name: "Hidden author of reports", ...red });
  for (let i = 0; i < 3; i++) {
    const published = `2026-01-0${i + 1}T00:00:00.000Z`;
    await make(harness, "Report", { name: `Authored zqx ${i}`, published, createdBy: author });
  }
  const told = await by("author", { types: ["Report"], query: "zqx" });
  expect(told).toEqual([]);
  expect(await by("author", { types: ["Report"], query: "zqx" }, "admin")).toMatchObject([{ id: author, count: 3 }]);
  for (const field of ["no_such_field", "description", "created_at"]) {
    const error = await refusal(by(field, { types: ["Malware"] }));
    expect([field, error.code, error.rawMessage]).toEqual([
      field,
      Code.InvalidArgument,
      expect.stringContaining("list_filter_keys"),
    ]);
  }
});

test("objects are counted in time, quarters and weeks too, wherever the start lies", async () => {
  for (const month of ["01", "02", "05"])
    await make(harness, "Report", { name: `Timed qzx ${month}`, published: `2026-${month}-14T00:00:00.000Z` });
  const ask = async (interval: Interval, start: string, end: string) => {
    const asked = {
      interval,
      start: at(start),
      end: at(end),
      dateField: DateField.PUBLISHED,
      types: ["Report"],
      query: "qzx",
    };
    const { periods } = await harness.call(statistics.getEntityTimeseries, asked);
    return periods.map(({ start: begin, count: n }) => `${timestampDate(begin!).toISOString().slice(0, 10)} ${n}`);
  };
  expect(await ask(Interval.QUARTER, "2026-02-20T00:00:00Z", "2026-06-30T00:00:00Z")).toEqual([
    "2026-01-01 2",
    "2026-04-01 1",
  ]);
  expect(await ask(Interval.MONTH, "2026-01-31T00:00:00Z", "2026-03-30T00:00:00Z")).toEqual([
    "2026-01-01 1",
    "2026-02-01 1",
    "2026-03-01 0",
  ]);
  expect(await ask(Interval.WEEK, "2026-01-14T00:00:00Z", "2026-01-20T00:00:00Z")).toEqual([
    "2026-01-12 1",
    "2026-01-19 0",
  ]);
  const many = await refusal(ask(Interval.DAY, "2020-01-01T00:00:00Z", "2026-01-01T00:00:00Z"));
  expect([many.code, many.rawMessage]).toEqual([
    Code.InvalidArgument,
    expect.stringContaining("more than 400 periods"),
  ]);
});

test("an actor's techniques come once each, over all pages; the matrix has them by phase", async () => {
  const first = await harness.call(listEntityTtps, { objectId: set, pageSize: 2 });
  const second = await harness.call(listEntityTtps, { objectId: set, pageSize: 2, pageToken: first.nextPageToken! });
  const ttps = [...first.ttps, ...second.ttps];
  expect([ttps.length, new Set(ttps.map(({ id }) => id)).size, first.totalSize]).toEqual([3, 3, 3]);
  const names = ttps.map(({ name }) => name.toLowerCase());
  expect(names).toEqual(names.toSorted());
  const phase = ttps[0]!.killChainPhases[0]!;
  const { phases } = await harness.call(getAttackMatrix, {});
  expect(phases.every(({ techniques }) => techniques.length === 0)).toBe(true);
  const shown = await harness.call(getAttackMatrix, { killChainPhase: phase });
  expect(shown.phases).toHaveLength(1);
  expect(shown.phases[0]!.techniques).toHaveLength(shown.phases[0]!.techniqueCount);
  expect((await refusal(harness.call(getAttackMatrix, { killChainPhase: "none such" }))).code).toBe(Code.NotFound);
});

test("what was changed of late is told without naming what one may not see", async () => {
  const name = fresh("Recent");
  const id = await make(harness, "Malware", { name });
  const secret = await make(harness, "Malware", { name: fresh("Recent secret") });
  await relate(harness, id, "related-to", secret);
  const document =
    'mutation($id: ID!, $m: [Any]!) { stixDomainObjectEdit(id: $id) { fieldPatch(input: [{ key: "objectMarking", value: $m }]) { id } } }';
  await harness.ask("admin", document, { id: secret, m: red.objectMarking });
  const read = () =>
    harness.call(InsightService.method.listRecentChanges, { since: at("2026-01-01T00:00:00Z"), pageSize: 50 });
  await expect.poll(async () => (await read()).changes.some(({ object }) => object?.id === id)).toBe(true);
  const { changes } = await read();
  const text = JSON.stringify(changes, (_, value) => (typeof value === "bigint" ? String(value) : value));
  expect(text).not.toContain(secret);
  expect(text).not.toContain("Recent secret");
  expect(changes.find(({ object }) => object?.type === "related-to")?.object?.name).toContain("(not visible to you)");
});

test("duplicates become one; other types, organizations and hidden ones do not", async () => {
  const merge = (targetId: string, sourceIds: string[], as = "admin") =>
    harness.call(mergeEntities, { targetId, sourceIds }, as);
  const [target, one, two, tool] = await Promise.all([
    make(harness, "Malware", { name: fresh("Target") }),
    make(harness, "Malware", { name: fresh("Double") }),
    make(harness, "Malware", { name: fresh("Double") }),
    make(harness, "Tool", { name: fresh("Tool") }),
  ]);
  await relate(harness, set, "uses", one);
  const said = await merge(target, [one, two]);
  expect(said.merged.map(({ id }) => id)).toEqual([one, two]);
  expect(said.result?.object?.id).toBe(target);
  expect((await refusal(harness.call(getEntity, { objectId: one }))).code).toBe(Code.NotFound);
  expect((await harness.call(getEntity, { objectId: target })).connections).toBe(1);
  expect((await refusal(merge(target, [tool]))).rawMessage).toContain(
    "has the type Tool, but the target has the type Malware",
  );
  expect((await refusal(merge(target, [target]))).code).toBe(Code.InvalidArgument);
  const organizations = await entities(harness, "Organization", 2, "admin");
  expect((await refusal(merge(organizations[0]!.id, [organizations[1]!.id]))).code).toBe(Code.FailedPrecondition);
  const own = await harness.call(createEntity, { type: "Malware", name: fresh("Own") });
  expect((await refusal(merge(own.result!.object!.id, [hidden], "analyst"))).code).toBe(Code.NotFound);
  expect((await refusal(merge(own.result!.object!.id, [target], "analyst"))).code).toBe(Code.PermissionDenied);
});
