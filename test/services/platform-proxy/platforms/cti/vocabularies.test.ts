import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VocabularyService } from "#proto/cti/v1/vocabulary_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const { listLabels, listMarkings, listVocabularyValues, listKillChainPhases } = VocabularyService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("labels are listed by value, and found by a part of it", async () => {
  const { labels, totalSize } = await harness.call(listLabels, { pageSize: 100 });
  const values = labels.map(({ value }) => value);
  expect(values).toEqual(values.toSorted());
  expect(totalSize).toBe(values.length);
  const some = await harness.call(listLabels, { query: "ious-act" });
  expect(some.labels.map(({ value }) => value)).toEqual(["malicious-activity"]);
});

test("markings are listed with those that the caller may set", async () => {
  const { markings } = await harness.call(listMarkings, {}, "reader");
  const tlp = markings.filter(({ kind }) => kind === "TLP");
  expect(tlp.map(({ name, allowed }) => [name, allowed])).toEqual([
    ["TLP:CLEAR", true],
    ["TLP:GREEN", true],
    ["TLP:AMBER", false],
    ["TLP:AMBER+STRICT", false],
    ["TLP:RED", false],
  ]);
  const { markings: all } = await harness.call(listMarkings, {}, "admin");
  expect(all.every(({ allowed }) => allowed)).toBe(true);
});

test("a vocabulary gives its words in its own order, and the vocabularies are told", async () => {
  const { words } = await harness.call(listVocabularyValues, { vocabulary: "case_severity_ov" });
  expect(words.map(({ name }) => name)).toEqual(["low", "medium", "high", "critical"]);
  const some = await harness.call(listVocabularyValues, { query: "case_" });
  expect(some.words.map(({ name, types }) => [name, types.length])).toEqual([
    ["case_priority_ov", 3],
    ["case_severity_ov", 3],
  ]);
  const wrong = await refusal(harness.call(listVocabularyValues, { vocabulary: "case_colour_ov" }));
  expect([wrong.code, wrong.rawMessage.slice(0, 60)]).toEqual([
    Code.InvalidArgument,
    "vocabulary: case_colour_ov is not one of attack_motivation_ov, attack_resource_level_ov".slice(0, 60),
  ]);
});

test("kill chain phases are listed in the order of their chain, through all pages", async () => {
  const all = await harness.call(listKillChainPhases, { pageSize: 100 });
  expect(all.phases.map(({ rank }) => rank)).toEqual(all.phases.map((_, at) => at));
  const names: string[] = [];
  let pageToken = "";
  do {
    const page = await harness.call(listKillChainPhases, { pageSize: 5, pageToken });
    names.push(...page.phases.map(({ name }) => name));
    expect(page.totalSize).toBe(all.totalSize);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(names).toEqual(all.phases.map(({ name }) => name));
  const { phases } = await harness.call(listKillChainPhases, { query: "exfil" });
  expect(phases).toMatchObject([{ killChain: "mitre-attack", name: "exfiltration" }]);
});

test("who may not read knowledge reads none of them", async () => {
  const asked = [
    harness.call(listLabels, {}, "nobody"),
    harness.call(listMarkings, {}, "nobody"),
    harness.call(listVocabularyValues, { vocabulary: "opinion_ov" }, "nobody"),
    harness.call(listKillChainPhases, {}, "nobody"),
  ].map((call) => refusal(call));
  for (const one of await Promise.all(asked)) expect(one.code).toBe(Code.PermissionDenied);
});
