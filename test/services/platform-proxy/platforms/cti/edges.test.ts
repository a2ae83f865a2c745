import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { ExternalReferenceService } from "#proto/cti/v1/external_reference_service_pb.js";
import { NoteService } from "#proto/cti/v1/note_service_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { SchemaService } from "#proto/cti/v1/schema_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { StatisticsService } from "#proto/cti/v1/statistics_service_pb.js";
import { TechniqueService } from "#proto/cti/v1/technique_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { outcomeOf } from "../../../../../services/shared/rpc/write-outcome.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { entities, make, relate, sight } from "./asking.js";
import { fresh, makeMalware } from "./making.js";

const { getEntity, createEntity, updateEntity, deleteEntity, mergeEntities } = EntityService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("blank names and texts are refused, and nothing is written", async () => {
  const { id } = await makeMalware(harness);
  const note = await make(harness, "Note", { content: "Some text.", objects: [id], confidence: 0 });
  const published = "2026-01-01T00:00:00Z";
  const report = await make(harness, "Report", { name: fresh("Report"), published, confidence: 0 });
  const before = (await harness.call(SearchService.method.searchAll, { query: "*" })).totalSize;
  const { createReport } = ContainerService.method;
  const { createNote } = AnnotationService.method;
  const { updateNote, createOpinion } = NoteService.method;
  const attempts = [
    ["name", () => harness.call(createReport, { name: "   " })],
    ["description", () => harness.call(createReport, { name: "A report", description: " \n" })],
    ["content", () => harness.call(createReport, { name: "A report", content: "\t " })],
    ["content", () => harness.call(createNote, { objectIds: [id], content: "  \n" })],
    ["abstract", () => harness.call(createNote, { objectIds: [id], content: "Text.", abstract: "  " })],
    ["content", () => harness.call(updateNote, { noteId: note, content: "   " })],
    ["explanation", () => harness.call(createOpinion, { objectIds: [id], opinion: "agree", explanation: "  " })],
    ["name", () => harness.call(updateEntity, { objectId: report, name: "   " })],
    ["description", () => harness.call(createEntity, { type: "Malware", name: fresh("Malware"), description: "  " })],
    [
      "description",
      () => harness.call(ObservableService.method.createObservable, { type: "Text", value: "t", description: " " }),
    ],
  ] as const;
  for (const [argument, attempt] of attempts) {
    const error = await refusal(attempt());
    expect([error.code, outcomeOf(error) ?? Outcome.UNCHANGED]).toEqual([Code.InvalidArgument, Outcome.UNCHANGED]);
    expect(error.rawMessage).toMatch(new RegExp(`^${argument}: must `));
  }
  expect((await harness.call(SearchService.method.searchAll, { query: "*" })).totalSize).toBe(before);
});

test("a reference is a web address", async () => {
  const { id: objectId } = await makeMalware(harness);
  const { addExternalReference, listEntityExternalReferences } = ExternalReferenceService.method;
  for (const url of [
    "javascript:alert(1)",
    "data:text/html,x",
    "example.com",
    "https://",
    "https:/a.example",
    "x y",
    "https://a.example/\u0000",
  ]) {
    const error = await refusal(harness.call(addExternalReference, { objectId, sourceName: "Odd", url }));
    expect([url, error.code, error.rawMessage]).toEqual([url, Code.InvalidArgument, expect.stringMatching(/^url: /)]);
  }
  expect((await harness.call(listEntityExternalReferences, { objectId })).references).toEqual([]);
  for (const url of ["https://a.example/?q=1#x", "ftp://a.example/f", "http://[2001:db8::1]:8080/"])
    expect((await harness.call(addExternalReference, { objectId, sourceName: "Web", url })).created).toBe(true);
});

test("a relationship or sighting is not said to be unknown where an object is asked for", async () => {
  const { id } = await makeMalware(harness);
  const [place] = await entities(harness, "Country");
  const relationship = await relate(harness, id, "targets", place!.id);
  const sighting = await sight(harness, id, place!.id);
  for (const [objectId, what] of [
    [relationship, "relationship"],
    [sighting, "sighting"],
  ] as const) {
    for (const attempt of [
      () => harness.call(getEntity, { objectId }),
      () => harness.call(deleteEntity, { objectId }),
      () => harness.call(updateEntity, { objectId, name: "New name" }),
    ]) {
      const error = await refusal(attempt());
      expect(error.code).toBe(Code.FailedPrecondition);
      expect(error.rawMessage).toBe(
        `object_id: ${objectId} is a ${what}, not an object; use get_${what}, update_${what} or delete_${what}`,
      );
    }
  }
  const unknown = await refusal(harness.call(getEntity, { objectId: "11111111-1111-4111-8111-111111111111" }));
  expect(unknown.code).toBe(Code.NotFound);
});

test("an entity is read with its other names, its confidence, and its description alone", async () => {
  const name = fresh("Malware");
  const made = await harness.call(createEntity, {
    type: "Malware",
    name,
    aliases: [`${name} alias`],
    refs: { confidence: 35 },
  });
  const read = await harness.call(getEntity, { objectId: made.result!.object!.id });
  expect(read).toMatchObject({ aliases: [`${name} alias`], confidence: 35 });
  const published = "2026-01-01T00:00:00Z";
  const report = await make(harness, "Report", { name: fresh("Report"), published, content: "The whole text." });
  expect((await harness.call(getEntity, { objectId: report })).object?.description).toBe("");
  const explanation = "Seen elsewhere.";
  const opinion = await make(harness, "Opinion", { opinion: "agree", explanation, objects: [report] });
  expect((await harness.call(getEntity, { objectId: opinion })).object?.description).toBe(explanation);
  const value = "no-confidence.example";
  const { observable } = await harness.call(ObservableService.method.createObservable, { type: "Domain-Name", value });
  const bare = await harness.call(getEntity, { objectId: observable!.id });
  expect([bare.confidence, bare.aliases]).toEqual([undefined, []]);
  const error = await refusal(harness.call(updateEntity, { objectId: observable!.id, description: "text" }));
  expect(error.rawMessage).toContain("use update_observable");
});

test("a merge says which description it lost", async () => {
  const make = async (description: string) => {
    const { result } = await harness.call(createEntity, { type: "Tool", name: fresh("Tool"), description });
    return { id: result!.object!.id, name: result!.object!.name };
  };
  const [target, other, same] = [
    await make("The kept text."),
    await make("The lost text."),
    await make("The kept text."),
  ];
  const merged = await harness.call(mergeEntities, { targetId: target!.id, sourceIds: [other!.id, same!.id] }, "admin");
  expect(merged.result?.object?.description).toBe("The kept text.");
  expect(merged.result?.notices).toEqual([
    `OpenCTI kept one description; that of ${other!.name} (id ${other!.id}) is lost: The lost text.`,
  ]);
});

test("an unknown kill chain is told from an unknown phase, and both refusals have the names", async () => {
  const { getAttackMatrix } = TechniqueService.method;
  const { phases } = await harness.call(getAttackMatrix, {});
  const [known] = phases;
  const chain = await refusal(harness.call(getAttackMatrix, { killChain: "no such chain" }));
  expect(chain.rawMessage).toMatch(/^kill_chain: no such kill chain /);
  expect(chain.rawMessage).toContain(known!.killChain);
  const phase = await refusal(harness.call(getAttackMatrix, { killChain: known!.killChain, killChainPhase: "none" }));
  expect(phase.rawMessage).toMatch(/^kill_chain_phase: no such phase /);
  expect(phase.rawMessage).toContain(known!.name);
});

test.each(["Malware", "Report", "Indicator", "Domain-Name"])(
  "each attribute of %s is counted as list_filter_keys says",
  async (type) => {
    const { keys } = await harness.call(SchemaService.method.listFilterKeys, { type });
    const { getEntityDistribution } = StatisticsService.method;
    expect(keys.filter(({ countable }) => countable).length).toBeGreaterThan(2);
    for (const { name, countable } of keys) {
      const counted = harness.call(getEntityDistribution, { field: name, types: [type] });
      if (countable) expect((await counted).buckets.length).toBeGreaterThan(0);
      else expect((await refusal(counted)).rawMessage).toMatch(/^field: cannot group by /);
    }
  },
);

test("types in statistics are written as types takes them", async () => {
  const { getEntityDistribution } = StatisticsService.method;
  for (const field of ["entity_type", "x_opencti_main_observable_type"]) {
    const types = field === "entity_type" ? [] : ["Indicator"];
    const { buckets } = await harness.call(getEntityDistribution, { field, types, limit: 100 });
    const named = buckets.map(({ name }) => name).filter((name) => name.toLowerCase() !== "unknown");
    expect(named.length).toBeGreaterThan(1);
    for (const name of named)
      await harness.call(SearchService.method.searchAll, { query: "*", types: [name], pageSize: 1 });
  }
});
