import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { fresh, makeMalware, makeSecret } from "./making.js";

const { getEntity, updateEntity } = EntityService.method;
const { addLabels, removeLabels, addMarkings, createNote } = AnnotationService.method;
const { createReport, addObjectsToContainer, removeObjectFromContainer, listContainerObjects } =
  ContainerService.method;

const UNKNOWN = "11111111-1111-4111-8111-111111111111";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("a report is created with what it holds, and one of the same name and date is refused", async () => {
  const [one, two] = [await makeMalware(harness), await makeMalware(harness)];
  const published = { seconds: BigInt(Date.UTC(2026, 9, 1) / 1000), nanos: 0 };
  const name = fresh("Report");
  const { result, objectCount } = await harness.call(createReport, {
    name,
    published,
    reportTypes: ["threat-report"],
    objectIds: [one.id, two.id],
    refs: { markings: ["TLP:GREEN"] },
  });
  expect(objectCount).toBe(2);
  expect(result).toMatchObject({ notices: [], object: { name, markings: ["TLP:GREEN"] } });
  const same = await refusal(harness.call(createReport, { name, published, description: "other" }));
  expect(same.code).toBe(Code.AlreadyExists);
  const word = await refusal(harness.call(createReport, { name: fresh("Report"), reportTypes: ["no-such-type"] }));
  expect(word.rawMessage).toContain("threat-report");
  const secret = await makeSecret(harness);
  const hidden = await refusal(harness.call(createReport, { name: fresh("Report"), objectIds: [one.id, secret.id] }));
  expect(hidden.code).toBe(Code.NotFound);
});

test("a report may take the name of another, since reports are told apart by date too", async () => {
  const [one, two] = [fresh("Report"), fresh("Report")];
  await harness.call(createReport, { name: one, published: { seconds: 1_700_000_000n, nanos: 0 } });
  const { result } = await harness.call(createReport, { name: two, published: { seconds: 1_710_000_000n, nanos: 0 } });
  const changed = await harness.call(updateEntity, { objectId: result!.object!.id, name: one });
  expect(changed.result?.object).toMatchObject({ id: result!.object!.id, name: one });
});

test("objects go into a container all or none, by any id, and membership is read back", async () => {
  const [one, two] = [await makeMalware(harness), await makeMalware(harness)];
  const { result } = await harness.call(createReport, { name: fresh("Report"), objectIds: [one.id] });
  const containerId = result!.object!.id;
  const missing = await refusal(harness.call(addObjectsToContainer, { containerId, objectIds: [two.id, UNKNOWN] }));
  expect(missing.code).toBe(Code.NotFound);
  expect(missing.rawMessage).toContain(UNKNOWN);
  expect((await harness.call(listContainerObjects, { containerId })).totalSize).toBe(1);
  const { standardId } = await harness.call(getEntity, { objectId: two.id });
  const added = await harness.call(addObjectsToContainer, { containerId, objectIds: [one.id, standardId] });
  expect(added).toMatchObject({ added: [{ id: two.id }], alreadyHeld: [{ id: one.id }], objectCount: 2 });
  const removed = await harness.call(removeObjectFromContainer, { containerId, objectId: standardId });
  expect(removed).toMatchObject({ removed: true, objectCount: 1 });
  expect(await harness.call(removeObjectFromContainer, { containerId, objectId: two.id })).toMatchObject({
    removed: false,
    objectCount: 1,
  });
  const wrong = await refusal(harness.call(addObjectsToContainer, { containerId: one.id, objectIds: [two.id] }));
  expect(wrong.code).toBe(Code.FailedPrecondition);
});

test("a note goes on every object that is named", async () => {
  const [one, two] = [await makeMalware(harness), await makeMalware(harness)];
  const { result } = await harness.call(createNote, {
    objectIds: [one.id, two.id],
    content: "Seen together.",
    abstract: "Pair",
  });
  expect(result).toMatchObject({ notices: [], object: { type: "Note", name: "Pair", description: "Seen together." } });
  const held = await harness.call(listContainerObjects, { containerId: result!.object!.id });
  expect(held.objects.map((object) => object.id).sort()).toEqual([one.id, two.id].sort());
});

test("labels are added by value and created only by those who may", async () => {
  const { id } = await makeMalware(harness);
  const added = await harness.call(addLabels, { objectId: id, labels: ["APT", "osint"] });
  expect(added.result?.object?.labels.toSorted()).toEqual(["apt", "osint"]);
  const denied = await refusal(harness.call(addLabels, { objectId: id, labels: ["apt", "brand-new"] }));
  expect(denied.code).toBe(Code.PermissionDenied);
  const created = await harness.call(addLabels, { objectId: id, labels: ["brand-new"] }, "admin");
  expect(created.createdLabels).toEqual(["brand-new"]);
  const removed = await harness.call(removeLabels, { objectId: id, labels: ["apt", "never-there"] });
  expect(removed.result?.object?.labels).not.toContain("apt");
  expect(removed.result?.notices.join()).toContain("never-there");
});

test("of one kind the higher marking stays, and what a lower one did not change is told", async () => {
  const { id } = await makeMalware(harness, "analyst", { markings: ["TLP:GREEN"] });
  const raised = await harness.call(addMarkings, { objectId: id, markings: ["TLP:AMBER", "PAP:GREEN"] });
  expect(raised.result?.object?.markings.toSorted()).toEqual(["PAP:GREEN", "TLP:AMBER"]);
  expect(raised.result?.notices).toEqual(["TLP:AMBER replaced TLP:GREEN"]);
  const lower = await harness.call(addMarkings, { objectId: id, markings: ["TLP:GREEN"] });
  expect(lower.result?.object?.markings).toContain("TLP:AMBER");
  expect(lower.result?.notices).toEqual([
    "TLP:GREEN was not added because the object keeps TLP:AMBER, which is higher",
  ]);
  const above = await refusal(harness.call(addMarkings, { objectId: id, markings: ["TLP:RED"] }));
  expect(above.code).toBe(Code.PermissionDenied);
  expect((await harness.call(getEntity, { objectId: id })).object?.markings).toContain("TLP:AMBER");
});
