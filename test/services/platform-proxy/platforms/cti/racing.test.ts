import type { DescMethodUnary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { CaseService } from "#proto/cti/v1/case_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { ExternalReferenceService } from "#proto/cti/v1/external_reference_service_pb.js";
import { GroupingService } from "#proto/cti/v1/grouping_service_pb.js";
import { IndicatorService } from "#proto/cti/v1/indicator_service_pb.js";
import { NoteService } from "#proto/cti/v1/note_service_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SightingService } from "#proto/cti/v1/sighting_service_pb.js";
import { takingTurns } from "../../../../../services/platform-proxy/lib/taking-turns.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { entities } from "./asking.js";
import { fresh, makeMalware } from "./making.js";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

const AT_ONCE = 5;

interface Made {
  readonly result?: { readonly object?: { readonly id: string } };
}

/** Makes one thing several times at once: how many were created, and the codes of the refusals. */
async function race(tool: DescMethodUnary, requestOf: (i: number) => Record<string, unknown>) {
  const all = await Promise.allSettled(
    Array.from({ length: AT_ONCE }, (_, i) => harness.call(tool, requestOf(i), i % 2 === 0 ? "analyst" : "admin")),
  );
  return {
    created: all.filter(({ status }) => status === "fulfilled").length,
    codes: all.flatMap((one) => (one.status === "rejected" ? [ConnectError.from(one.reason).code] : [])),
  };
}

const ONE = { created: 1, codes: Array<Code>(AT_ONCE - 1).fill(Code.AlreadyExists) };

test("of several creations at once, one says that it created, and the others that it exists", async () => {
  const name = fresh("Raced");
  const { createEntity } = EntityService.method;
  const description = (i: number) => `Description ${i}.`;
  expect(await race(createEntity, (i) => ({ type: "Malware", name, description: description(i) }))).toEqual(ONE);
  const value = "raced.example";
  expect(await race(ObservableService.method.createObservable, () => ({ type: "Domain-Name", value }))).toEqual(ONE);
  const pattern = "[domain-name:value = 'raced.example']";
  expect(await race(IndicatorService.method.createIndicator, (i) => ({ name: `${name} ${i}`, pattern }))).toEqual(ONE);
  const published = timestampFromDate(new Date("2026-02-03T04:05:06Z"));
  expect(await race(ContainerService.method.createReport, () => ({ name, published }))).toEqual(ONE);
});

test("a name and an alias in common make two creations one", async () => {
  const name = fresh("Alias");
  const { createEntity } = EntityService.method;
  const requestOf = (i: number) =>
    i === 0 ? { type: "Malware", name } : { type: "Malware", name: `${name} ${i}`, aliases: [name] };
  expect(await race(createEntity, requestOf)).toEqual(ONE);
});

test("other names that are added at once are all kept", async () => {
  const { id } = await makeMalware(harness);
  const aliases = Array.from({ length: AT_ONCE }, () => fresh("Other name"));
  const { updateEntity, getEntity } = EntityService.method;
  await Promise.all(aliases.map((alias) => harness.call(updateEntity, { objectId: id, addAliases: [alias] })));
  const read = await harness.call(getEntity, { objectId: id });
  expect([...(read.aliases ?? [])].sort()).toEqual(aliases.sort());
  const name = fresh("One name");
  const others = await Promise.all(Array.from({ length: AT_ONCE }, () => makeMalware(harness)));
  expect(await race(updateEntity, (i) => ({ objectId: others[i]!.id, name }))).toEqual(ONE);
});

test("of what may exist twice, each creation at once is one of its own", async () => {
  const { id } = await makeMalware(harness);
  const name = fresh("Twice");
  const cases = await harness.call(CaseService.method.createCaseRfi, { name });
  const caseId = cases.result!.object!.id;
  const creations: readonly (readonly [DescMethodUnary, Record<string, unknown>])[] = [
    [AnnotationService.method.createNote, { objectIds: [id], content: name }],
    [NoteService.method.createOpinion, { objectIds: [id], opinion: "agree" }],
    [GroupingService.method.createGrouping, { name, context: "unspecified" }],
    [CaseService.method.createCaseIncident, { name }],
    [CaseService.method.createTask, { caseId, name }],
  ];
  for (const [tool, request] of creations) {
    const made = (await Promise.all(Array.from({ length: 12 }, () => harness.call(tool, request)))) as Made[];
    expect([tool.name, new Set(made.map(({ result }) => result?.object?.id)).size]).toEqual([tool.name, 12]);
  }
  const grouping = { name: fresh("Twice"), context: "unspecified" };
  const { createGrouping } = GroupingService.method;
  const made = await Promise.all(Array.from({ length: AT_ONCE }, () => harness.call(createGrouping, grouping)));
  const notices = made.flatMap(({ result }) => result?.notices ?? []);
  expect(notices.filter((notice) => /^another Grouping/.test(notice))).toHaveLength(AT_ONCE - 1);
});

test("of several promotions of one observable at once, one says that it created the indicator", async () => {
  const { createObservable, promoteObservableToIndicator } = ObservableService.method;
  const made = await harness.call(createObservable, { type: "Domain-Name", value: "promoted.raced.example" });
  const observableId = made.observable!.id;
  const promoted = await Promise.all(
    Array.from({ length: AT_ONCE }, () => harness.call(promoteObservableToIndicator, { observableId })),
  );
  expect(promoted.filter(({ created }) => created)).toHaveLength(1);
  expect(new Set(promoted.map(({ indicator }) => indicator?.id)).size).toBe(1);
});

test("of several relationships and sightings at once, one is created", async () => {
  const { id: fromId } = await makeMalware(harness);
  const [place] = await entities(harness, "Country");
  const ends = { fromId, toId: place!.id };
  const { createRelationship } = RelationshipService.method;
  expect(await race(createRelationship, () => ({ ...ends, relationshipType: "targets" }))).toEqual(ONE);
  expect(await race(SightingService.method.createSighting, () => ends)).toEqual(ONE);
});

test("of several references at once, one says that it was created", async () => {
  const { addExternalReference } = ExternalReferenceService.method;
  const objects = await Promise.all(Array.from({ length: AT_ONCE }, () => makeMalware(harness)));
  const added = await Promise.all(
    objects.map(({ id }) =>
      harness.call(addExternalReference, { objectId: id, sourceName: "Raced", url: "https://raced.example/a" }),
    ),
  );
  expect(added.filter(({ created }) => created)).toHaveLength(1);
  expect(new Set(added.map(({ reference }) => reference?.id)).size).toBe(1);
});

test("turns end with a failure, and others do not wait", async () => {
  const platform = { server: "cti" } as Parameters<typeof takingTurns>[0];
  const said: string[] = [];
  let release = () => {};
  const slow = takingTurns(platform, "Malware", ["one"], async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    said.push("slow");
    throw new Error("failed");
  });
  const next = takingTurns(platform, "Malware", ["ONE ", "two"], async () => said.push("next"));
  await takingTurns(platform, "Malware", ["three"], async () => said.push("other"));
  await takingTurns(platform, "Tool", ["one"], async () => said.push("other type"));
  release();
  await expect(slow).rejects.toThrow("failed");
  await next;
  expect(said).toEqual(["other", "other type", "slow", "next"]);
});
