import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityListService } from "#proto/cti/v1/entity_list_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { IndicatorService } from "#proto/cti/v1/indicator_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { entities, make, markingId, sight } from "./asking.js";

const { listObservables, searchAll, listIndicators, lookupIoc, findEntityByName } = SearchService.method;
const { listAttackPatterns } = EntityListService.method;
const HASH = "0123456789abcdef0123456789abcdef";
const LONG = `https://long.parts.example/${"x".repeat(600)}`;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
  const { createObservable } = ObservableService.method;
  for (const value of ["10.77.5.1", "10.77.5.12"])
    await harness.call(createObservable, { type: "IPv4-Addr", value }, "admin");
  await harness.call(createObservable, { type: "Domain-Name", value: "c2-1.parts.example" }, "admin");
  await harness.call(createObservable, { type: "Url", value: LONG }, "admin");
  await harness.call(createObservable, { type: "StixFile", value: "drop.exe", hashes: { md5: HASH } }, "admin");
});
afterAll(() => harness.close());

const indicator = (name: string, pattern: string, more: object = {}) =>
  make(harness, "Indicator", {
    name,
    pattern,
    pattern_type: "stix",
    x_opencti_main_observable_type: "Domain-Name",
    ...more,
  });

test.each([
  ["10.77.5", ["10.77.5.1", "10.77.5.12"]],
  [".77.5.12", ["10.77.5.12"]],
  ["-1.parts.exam", ["c2-1.parts.example"]],
  ["parts.exam", ["c2-1.parts.example", LONG]],
  [HASH.slice(4, 20), [HASH]],
  ["long[.]parts[.]example", [LONG]],
])("observables are found by %s, a part of their values", async (query, values) => {
  const { observables, totalSize } = await harness.call(listObservables, { query });
  expect(observables.map(({ value }) => value).sort()).toEqual([...values].sort());
  expect(totalSize).toBe(values.length);
});

test.each([
  ["-1.parts.exam", ["c2-1.parts.example"]],
  ["77.5.1", ["10.77.5.1", "10.77.5.12"]],
])("%s, a part of an address or domain, is found by every search, and counted", async (query, names) => {
  const { objects } = await harness.call(searchAll, { query });
  expect(objects.map(({ name }) => name).sort()).toEqual(names);
  const { count } = await harness.call(InsightService.method.countEntities, { query });
  expect(count).toBe(names.length);
});

test("a value is known where an indicator names it, and by itself only", async () => {
  const named = await indicator("Watch", "[domain-name:value = 'only.parts.example']");
  await indicator(
    "Longer",
    "[domain-name:value = 'x.only.parts.example'] OR [url:value = 'https://only.parts.example/p']",
  );
  const objectMarking = [await markingId(harness, "TLP:RED")];
  await indicator("Hidden", "[domain-name:value = 'secret.parts.example']", { objectMarking });
  const looked = await harness.call(lookupIoc, { value: "only[.]parts[.]example" });
  expect(looked).toMatchObject({ known: true, matches: [], indicators: [{ id: named }] });
  expect(await harness.call(lookupIoc, { value: "secret.parts.example" })).toMatchObject({
    known: false,
    indicators: [],
  });
  expect((await harness.call(lookupIoc, { value: LONG })).matches).toHaveLength(1);
});

test("what holds now holds not only later", async () => {
  const valid_from = "2090-01-01T00:00:00.000Z";
  await indicator("Notyet", "[domain-name:value = 'later.parts.example']", {
    valid_from,
    valid_until: "2091-01-01T00:00:00.000Z",
  });
  const ask = (validOnly: boolean) => harness.call(listIndicators, { query: "notyet", validOnly });
  expect((await ask(false)).totalSize).toBe(1);
  expect((await ask(true)).totalSize).toBe(0);
});

test.each(['The "quoted" one', "Star* and ?", "[T1] in (brackets) {x}", "O'Name \\ here", "tool:part/1-2", "Énergie"])(
  "%s is found by its name",
  async (name) => {
    const id = await make(harness, "Tool", { name });
    for (const given of [name, ` ${name.toUpperCase()} `]) {
      const { exact, entities } = await harness.call(findEntityByName, { name: given });
      expect([exact, entities.map((one) => one.id)]).toEqual([true, [id]]);
    }
  },
);

test("a technique is found by the name that it is shown with", async () => {
  const { exact, entities } = await harness.call(findEntityByName, { name: "[T1566] Phishing" });
  expect(exact).toBe(true);
  expect(entities.map(({ name }) => name)).toEqual(["[T1566] Phishing"]);
});

test.each(["[T156", "[T156*", "[t1566]"])("%s is the beginning of names as they are shown", async (query) => {
  const { attackPatterns } = await harness.call(listAttackPatterns, { query, pageSize: 100 });
  const names = attackPatterns.map(({ name }) => name);
  expect(names).toContain("[T1566] Phishing");
  expect(names.filter((name) => !name.startsWith("[T156"))).toEqual([]);
});

test("an ATT&CK id finds the technique and its sub-techniques, and not those whose texts name it", async () => {
  const [sub, other] = [
    await make(harness, "Attack-Pattern", { name: "Form of parts", x_mitre_id: "T7654.002" }),
    await make(harness, "Attack-Pattern", { name: "Like parts", x_mitre_id: "T7655", description: "Unlike T7654." }),
  ];
  const whole = await make(harness, "Attack-Pattern", { name: "Whole of parts", x_mitre_id: "T7654" });
  for (const [query, ids] of [
    ["T7654", [sub, whole]],
    [" t7654 ", [sub, whole]],
    ["T7654.002", [sub]],
    ["T7655", [other]],
  ] as const) {
    const { attackPatterns, totalSize } = await harness.call(listAttackPatterns, { query });
    expect(attackPatterns.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(totalSize).toBe(ids.length);
  }
});

test("what nobody has sighted, what no container holds and what expires soon are asked for", async () => {
  const ids: string[] = [];
  // The platform derives the end of the validity from its begin.
  for (const [month, name] of ["seen", "held", "alone", "late"].entries()) {
    const valid_from = `2090-0${month + 1}-01T00:00:00.000Z`;
    ids.push(await indicator(`lacking-${name}`, `[domain-name:value = '${name}.lacking.example']`, { valid_from }));
  }
  const [seen, held, alone, late] = ids as [string, string, string, string];
  const [place] = await entities(harness, "Organization");
  await sight(harness, seen, place!.id);
  await make(harness, "Report", { name: "Holds", published: "2026-01-01T00:00:00.000Z", objects: [held] });
  const ask = async (more: object) => {
    const { indicators } = await harness.call(listIndicators, { query: "lacking-", ...more });
    return indicators.map(({ id }) => id).sort();
  };
  expect(await ask({ neverSighted: true })).toEqual([held, alone, late].sort());
  expect(await ask({ inNoContainer: true })).toEqual([seen, alone, late].sort());
  const { indicator: read } = await harness.call(IndicatorService.method.getIndicator, { indicatorId: alone });
  const expiresBefore = read!.validUntil!;
  expect(await ask({ neverSighted: true, inNoContainer: true, expiresBefore })).toEqual([alone]);

  const { observables: before } = await harness.call(listObservables, { query: "10.77.5" });
  await make(harness, "Report", { name: "Holds one", published: "2026-01-01T00:00:00.000Z", objects: [before[0]!.id] });
  await sight(harness, before[1]!.id, place!.id);
  const left = async (more: object) =>
    (await harness.call(listObservables, { query: "10.77.5", ...more })).observables.map(({ id }) => id);
  expect(await left({ inNoContainer: true })).toEqual([before[1]!.id]);
  expect(await left({ neverSighted: true })).toEqual([before[0]!.id]);
});

test("a type of reports or patterns that nothing has and nobody knows is refused with those there are", async () => {
  const { listReports } = ContainerService.method;
  const report = await refusal(harness.call(listReports, { reportType: "no-such-report" }));
  expect([report.code, report.rawMessage]).toEqual([Code.InvalidArgument, expect.stringContaining("threat-report")]);
  const pattern = await refusal(harness.call(listIndicators, { patternType: "stixx" }));
  expect(pattern.rawMessage).toContain("pattern_type: stixx is not one of");
  expect((await harness.call(listReports, { reportType: "Threat-Report" })).totalSize).toBeGreaterThan(0);
});

test("a report's namesake is found among any number of them", async () => {
  const published = (i: number) => new Date(Date.UTC(2025, 0, 1 + i)).toISOString();
  for (let i = 0; i < 25; i++) await make(harness, "Report", { name: "Daily", published: published(i) });
  const { createReport } = ContainerService.method;
  const same = await refusal(
    harness.call(createReport, { name: "daily", published: timestampFromMs(Date.parse(published(24))) }),
  );
  expect(same.code).toBe(Code.AlreadyExists);
});

test("names lose blanks around them, and external references may be given by their STIX ids", async () => {
  const document = "mutation($i: ExternalReferenceAddInput!) { externalReferenceAdd(input: $i) { id standard_id } }";
  const { externalReferenceAdd: reference } = await harness.ask<{
    externalReferenceAdd: { id: string; standard_id: string };
  }>("admin", document, { i: { source_name: "parts", external_id: "P-1" } });
  const { createEntity, getEntity, updateEntity } = EntityService.method;
  const refs = { externalReferenceIds: [reference.standard_id] };
  const { result } = await harness.call(createEntity, {
    type: "Malware",
    name: " Parted ",
    aliases: [" Other ", "Other"],
    refs,
  });
  const id = result!.object!.id;
  await harness.call(updateEntity, { objectId: id, addAliases: ["  More  "] });
  const ask = "query($id: String!) { malware(id: $id) { name aliases } }";
  const { malware } = await harness.ask<{ malware: object }>("admin", ask, { id });
  expect(malware).toEqual({ name: "Parted", aliases: ["Other", "More"] });
  await harness.call(updateEntity, { objectId: id, addAliases: ["Third"], removeAliases: ["MORE"] });
  const after = await harness.ask<{ malware: object }>("admin", ask, { id });
  expect(after.malware).toEqual({ name: "Parted", aliases: ["Other", "Third"] });
  await harness.call(updateEntity, { objectId: id, removeAliases: ["Other", "Third"] });
  expect((await harness.ask<{ malware: { aliases: [] } }>("admin", ask, { id })).malware.aliases).toEqual([]);
  expect((await harness.call(getEntity, { objectId: id })).externalReferences).toMatchObject([{ id: reference.id }]);
});

test("a value that is only trimmed was not refanged", async () => {
  const { createObservable } = ObservableService.method;
  for (const type of ["Text", "Domain-Name"]) {
    const { notices } = await harness.call(createObservable, { type, value: `  trimmed-${type}.parts.example ` });
    expect(notices).toEqual([]);
  }
});
