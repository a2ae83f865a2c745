import { setTimeout as sleep } from "node:timers/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IndicatorService } from "#proto/cti/v1/indicator_service_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { outcomeOf } from "../../../../../services/shared/rpc/write-outcome.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { make, markingId, relate } from "./asking.js";
import { fresh, makeMalware } from "./making.js";

const { getIndicator, listEntityIndicators, createIndicator, updateIndicator, deleteIndicator } =
  IndicatorService.method;
const { getObservable, createObservable, updateObservable, deleteObservable } = ObservableService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

let count = 0;
const domain = () => `indicated-${++count}.example`;
const patternOf = (value: string) => `[domain-name:value = '${value}']`;
const at = (time: string) => timestampFromDate(new Date(time));

async function observe(): Promise<{ id: string; value: string }> {
  const value = domain();
  const { observable } = await harness.call(createObservable, { type: "Domain-Name", value });
  return { id: observable!.id, value };
}

test("an indicator is created on its observables, and read with all that it has", async () => {
  const { id, value } = await observe();
  const made = await harness.call(createIndicator, {
    name: "Command and control",
    pattern: patternOf(value),
    mainObservableType: "Domain-Name",
    score: 80,
    description: "Where it calls home.",
    observableIds: [id],
    refs: { author: "Lighthouse Labs", markings: ["TLP:GREEN"], labels: ["c2"], confidence: 70 },
  });
  expect(made.notices).toEqual([]);
  expect(made.observables).toMatchObject([{ id, name: value }]);
  const read = await harness.call(getIndicator, { indicatorId: made.indicator!.id });
  expect(read).toMatchObject({
    indicator: { pattern: patternOf(value), patternType: "stix", score: 80, markings: ["TLP:GREEN"], labels: ["c2"] },
    description: "Where it calls home.",
    author: { name: "Lighthouse Labs" },
    confidence: 70,
    baseScore: 80,
    observables: [{ id, name: value }],
  });
  const looked = await harness.call(SearchService.method.lookupIoc, { value });
  expect(looked.matches[0]?.indicators.map((one) => one.id)).toEqual([made.indicator!.id]);
  const observable = await harness.call(getObservable, { observableId: id });
  expect(observable.indicators.map((one) => one.id)).toEqual([made.indicator!.id]);
});

test("a pattern that is known is refused with its id, however it is spaced, and the indicator stays as it was", async () => {
  const pattern = patternOf(domain());
  const { indicator } = await harness.call(createIndicator, { name: "First name", pattern });
  for (const again of [pattern, pattern.replaceAll(" ", ""), pattern.replace(" = ", "   =  ")]) {
    const error = await refusal(harness.call(createIndicator, { name: "Second name", pattern: again }));
    expect([error.code, error.rawMessage]).toEqual([Code.AlreadyExists, expect.stringContaining(indicator!.id)]);
  }
  expect((await harness.call(getIndicator, { indicatorId: indicator!.id })).indicator?.name).toBe("First name");
});

test("a pattern that only a hidden indicator has is refused without telling which", async () => {
  const pattern = patternOf(domain());
  const objectMarking = [await markingId(harness, "TLP:RED")];
  const id = await make(harness, "Indicator", { name: "Secret", pattern, pattern_type: "stix", objectMarking });
  const error = await refusal(harness.call(createIndicator, { name: "Guessed", pattern }));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).not.toContain(id);
  expect((await refusal(harness.call(getIndicator, { indicatorId: id }))).code).toBe(Code.NotFound);
});

test("what is wrong of an indicator is refused by its argument", async () => {
  const attempt = (more: object) =>
    refusal(harness.call(createIndicator, { name: "Wrong", pattern: patternOf(domain()), ...more }));
  expect((await attempt({ pattern: "no pattern" })).rawMessage).toContain("pattern: does not have the format");
  expect((await attempt({ patternType: "morse" })).rawMessage).toContain("pattern_type: morse");
  expect((await attempt({ mainObservableType: "Malware" })).rawMessage).toContain("main_observable_type");
  const unknown = await attempt({ observableIds: ["11111111-1111-4111-8111-111111111111"] });
  expect([unknown.code, unknown.rawMessage]).toEqual([Code.NotFound, expect.stringContaining("observable_ids")]);
});

test("what is no observable is refused before the indicator exists", async () => {
  const { id: observed } = await observe();
  const { id: malware } = await makeMalware(harness);
  const pattern = patternOf(domain());
  const error = await refusal(
    harness.call(createIndicator, { name: "On a malware", pattern, observableIds: [observed, malware] }),
  );
  expect([error.code, outcomeOf(error)]).toEqual([Code.InvalidArgument, Outcome.UNCHANGED]);
  expect(error.rawMessage).toMatch(`observable_ids: Malware`);
  expect(error.rawMessage).toContain("has the type Malware and is not an observable");
  const { indicators } = await harness.call(SearchService.method.listIndicators, { query: "On a malware" });
  expect(indicators.filter(({ name }) => name === "On a malware")).toEqual([]);
});

test("a new score of an observable goes to its indicators, and the notice says so", async () => {
  const { id: observableId } = await observe();
  const names = ["first", "second"].map((which) => `Indicator ${which} of ${observableId}`);
  for (const name of names)
    await harness.call(createIndicator, {
      name,
      pattern: patternOf(domain()),
      score: 70,
      observableIds: [observableId],
    });
  const { notices } = await harness.call(updateObservable, { observableId, score: 15 });
  expect(notices).toHaveLength(1);
  expect(notices[0]).toContain("OpenCTI also changed the score of the indicators based on it: ");
  for (const name of names) expect(notices[0]).toMatch(new RegExp(`${name} \\(id [0-9a-f-]+\\) from 70 to 15`));
  const { indicators } = await harness.call(getObservable, { observableId });
  expect(indicators.map(({ score }) => score)).toEqual([15, 15]);
  expect((await harness.call(updateObservable, { observableId, description: "text" })).notices).toEqual([]);
});

test("if an indicator keeps its score, the error says that the observable has a new one", async () => {
  const { id: observableId } = await observe();
  const pattern = patternOf(domain());
  const id = await make(harness, "Indicator", { name: "Sure", pattern, pattern_type: "stix", confidence: 95 });
  await relate(harness, id, "based-on", observableId);
  const error = await refusal(harness.call(updateObservable, { observableId, score: 15 }));
  expect([error.code, outcomeOf(error)]).toEqual([Code.PermissionDenied, Outcome.PARTLY]);
  expect(error.rawMessage).toContain("the observable was changed, but not all indicators based on it");
  expect((await harness.call(getObservable, { observableId })).observable?.score).toBe(15);
});

test("the indicators of an object are listed by the time when they were added, not by their validity", async () => {
  const { id: objectId } = await makeMalware(harness);
  const made: string[] = [];
  for (const valid_from of ["2026-03-01T00:00:00Z", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"]) {
    const pattern = patternOf(domain());
    const id = await make(harness, "Indicator", { name: "In order", pattern, pattern_type: "stix", valid_from });
    await relate(harness, id, "indicates", objectId);
    made.unshift(id);
    await sleep(5);
  }
  const { indicators } = await harness.call(listEntityIndicators, { objectId });
  expect(indicators.map(({ id }) => id)).toEqual(made);
});

test("a validity that the platform sets itself is told", async () => {
  const pattern = patternOf(domain());
  const asked = { name: "Long", pattern, validUntil: at("2090-01-01T00:00:00Z") };
  const { notices } = await harness.call(createIndicator, asked);
  expect(notices.join()).toMatch(/valid_until is 20\d\d-.*, not 2090-01-01T00:00:00.000Z/);
  const past = { name: "Past", pattern: patternOf(domain()), validFrom: at("2020-01-01T00:00:00Z") };
  const gone = await harness.call(createIndicator, { ...past, validUntil: at("2021-01-01T00:00:00Z") });
  expect(gone.indicator?.revoked).toBe(true);
  expect(gone.notices.join()).toContain("already revoked");
});

test("withdrawing an indicator moves score, validity and detection, and the notices say so", async () => {
  const made = await harness.call(createIndicator, { name: "Old", pattern: patternOf(domain()), score: 70 });
  const indicatorId = made.indicator!.id;
  await harness.call(updateIndicator, { indicatorId, detection: true });
  const { indicator, notices } = await harness.call(updateIndicator, { indicatorId, revoked: true });
  expect(indicator).toMatchObject({ revoked: true, score: 20 });
  expect(notices.join("; ")).toMatch(/score from 70 to 20.*valid_until.*detection from true to false/);
  const back = await harness.call(updateIndicator, { indicatorId, revoked: false });
  expect(back.indicator).toMatchObject({ revoked: false, score: 70 });
});

test("what is left out of an update stays, and what the platform did not take is told", async () => {
  const pattern = patternOf(domain());
  const { indicator } = await harness.call(createIndicator, { name: "Named", pattern, description: "before" });
  const indicatorId = indicator!.id;
  const renamed = await harness.call(updateIndicator, { indicatorId, name: "Renamed", confidence: 95 });
  expect(renamed.indicator).toMatchObject({ name: "Renamed", pattern });
  expect(renamed.notices).toEqual(["the confidence is 80, not 95: OpenCTI limits it to your account's maximum"]);
  expect((await harness.call(getIndicator, { indicatorId })).description).toBe("before");
  const both = { indicatorId, score: 90, validUntil: at("2090-01-01T00:00:00Z") };
  expect((await harness.call(updateIndicator, both)).notices.join()).toContain("the score is 50, not 90");
  expect((await refusal(harness.call(updateIndicator, { indicatorId }))).rawMessage).toContain("at least one field");
  const wrong = await refusal(harness.call(updateIndicator, { indicatorId, validFrom: at("2095-01-01T00:00:00Z") }));
  expect([wrong.code, wrong.rawMessage]).toEqual([
    Code.InvalidArgument,
    expect.stringContaining("valid_until: must not be"),
  ]);
});

test("an object's indicators come once each, the hidden ones not, over all pages", async () => {
  const objectId = await make(harness, "Malware", { name: fresh("Indicated") });
  const red = { objectMarking: [await markingId(harness, "TLP:RED")] };
  const made: string[] = [];
  for (let i = 0; i < 7; i++) {
    const input = { name: `Of it ${i}`, pattern: patternOf(domain()), pattern_type: "stix", ...(i === 3 && red) };
    const id = await make(harness, "Indicator", {
      ...input,
      ...(i === 5 && { valid_until: "2020-06-01T00:00:00Z", valid_from: "2020-01-01T00:00:00Z" }),
    });
    await relate(harness, id, "indicates", objectId, { start_time: "2026-01-01T00:00:00.000Z" });
    await relate(harness, id, "indicates", objectId, { start_time: "2026-05-01T00:00:00.000Z" });
    if (i !== 3) made.push(id);
  }
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await harness.call(listEntityIndicators, { objectId, pageSize: 2, pageToken });
    expect(page.totalSize).toBe(6);
    seen.push(...page.indicators.map(({ id }) => id));
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(seen.toSorted()).toEqual(made.toSorted());
  const valid = await harness.call(listEntityIndicators, { objectId, validOnly: true });
  expect(valid.indicators.map(({ id }) => id).toSorted()).toEqual(made.filter((id) => id !== made[4]).toSorted());
});

test("an observable's score and description are changed, and its value read with its hashes", async () => {
  const hash = "ab".repeat(32);
  const { observable } = await harness.call(createObservable, {
    type: "StixFile",
    value: "dropped.exe",
    hashes: { sha256: hash },
    score: 10,
  });
  const observableId = observable!.id;
  const { observable: after, notices } = await harness.call(updateObservable, {
    observableId,
    score: 90,
    description: "bad",
  });
  expect([after, notices]).toMatchObject([{ score: 90, description: "bad" }, []]);
  const read = await harness.call(getObservable, { observableId });
  expect(read).toMatchObject({ fileName: "dropped.exe", hashes: [{ algorithm: "SHA-256", hash }] });
  expect(read.observable).toMatchObject({ id: observableId, value: hash, score: 90, description: "bad" });
});

test("deletions need their own right, and are of the kind that is named", async () => {
  const { id, value } = await observe();
  const { indicator } = await harness.call(createIndicator, {
    name: "Gone",
    pattern: patternOf(value),
    observableIds: [id],
  });
  const indicatorId = indicator!.id;
  expect((await refusal(harness.call(deleteIndicator, { indicatorId }))).code).toBe(Code.PermissionDenied);
  expect((await refusal(harness.call(deleteIndicator, { indicatorId: id }, "admin"))).code).toBe(Code.NotFound);
  expect((await refusal(harness.call(deleteObservable, { observableId: indicatorId }, "admin"))).code).toBe(
    Code.NotFound,
  );
  const { deleted } = await harness.call(deleteIndicator, { indicatorId }, "admin");
  expect(deleted).toMatchObject({ id: indicatorId, type: "Indicator", name: "Gone" });
  expect((await harness.call(getObservable, { observableId: id })).indicators).toEqual([]);
  await harness.call(deleteObservable, { observableId: id }, "admin");
  expect((await refusal(harness.call(getObservable, { observableId: id }))).code).toBe(Code.NotFound);
});
