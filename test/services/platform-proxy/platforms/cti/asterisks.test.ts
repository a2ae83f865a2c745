import type { DescMethodUnary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountService } from "#proto/cti/v1/account_service_pb.js";
import { ContainerRecordService } from "#proto/cti/v1/container_record_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityListService } from "#proto/cti/v1/entity_list_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { VocabularyService } from "#proto/cti/v1/vocabulary_service_pb.js";
import { VulnerabilityService } from "#proto/cti/v1/vulnerability_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";

const { searchAll, searchEntities, listObservables, listIndicators, findEntityByName } = SearchService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
  for (const value of ["evil-star.example", "evil.star.example", "good.star.example"])
    await harness.call(ObservableService.method.createObservable, { type: "Domain-Name", value });
});
afterAll(() => harness.close());

interface Found {
  readonly totalSize?: number;
  readonly count?: number;
}

const numberOf = async (tool: DescMethodUnary, query: string): Promise<number | undefined> => {
  const { totalSize, count } = (await harness.call(tool, { query })) as unknown as Found;
  return totalSize ?? count;
};

test.each<[string, DescMethodUnary]>(
  [
    listObservables,
    listIndicators,
    ContainerService.method.listReports,
    ContainerRecordService.method.listContainers,
    EntityListService.method.listMalware,
    InsightService.method.countEntities,
    VocabularyService.method.listLabels,
    VocabularyService.method.listVocabularyValues,
    VocabularyService.method.listKillChainPhases,
    VulnerabilityService.method.listVulnerabilities,
  ].map((tool) => [tool.name, tool]),
)("%s finds everything by an asterisk", async (_, tool) => {
  const all = await numberOf(tool, "");
  expect(all).toBeGreaterThan(0);
  for (const query of ["*", " ** "]) expect(await numberOf(tool, query)).toBe(all);
});

test("everything is found by an asterisk also where a query must be given", async () => {
  const { count } = await harness.call(InsightService.method.countEntities, {});
  expect((await harness.call(searchAll, { query: "*" })).totalSize).toBe(count);
  const entities = { types: ["Malware", "Campaign"] };
  expect((await harness.call(searchEntities, { ...entities, query: "*" })).totalSize).toBe(
    (await harness.call(InsightService.method.countEntities, entities)).count,
  );
  expect((await harness.call(findEntityByName, { name: "*" })).entities).not.toEqual([]);
  const { types } = await harness.call(AccountService.method.listEntityTypes, { query: "ca*rfi" });
  expect(types).toEqual(["Case-Rfi"]);
});

test.each([
  ["evil.*", ["evil.star.example"]],
  ["evil-*", ["evil-star.example"]],
  ["*.star.example", ["evil.star.example", "good.star.example"]],
  ["evil*example", ["evil.star.example"]],
  ["evil-*.example", ["evil-star.example"]],
])("%s finds what it stands for", async (query, values) => {
  const { observables } = await harness.call(listObservables, { query });
  expect(observables.map(({ value }) => value).sort()).toEqual(values);
  const { objects } = await harness.call(searchAll, { query });
  expect(objects.map(({ name }) => name).sort()).toEqual(values);
});

test("labels are found by what an asterisk leaves of their values", async () => {
  const { labels } = await harness.call(VocabularyService.method.listLabels, { query: "" });
  const value = labels.find((label) => label.value.length > 3)!.value;
  const found = await harness.call(VocabularyService.method.listLabels, { query: `${value.slice(0, 2)}*` });
  expect(found.labels.map((label) => label.value)).toContain(value);
});
