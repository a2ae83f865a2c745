import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { CaseService } from "#proto/cti/v1/case_service_pb.js";
import { ContainerRecordService } from "#proto/cti/v1/container_record_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { GroupingService } from "#proto/cti/v1/grouping_service_pb.js";
import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { NoteService } from "#proto/cti/v1/note_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { entities, make, markingId, sight } from "./asking.js";
import { fresh, makeMalware, makeSecret } from "./making.js";

const {
  listContainers,
  getContainer,
  listEntityContainers,
  checkContainerMembership,
  updateContainer,
  deleteContainer,
} = ContainerRecordService.method;
const { listGroupings, createGrouping } = GroupingService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti({
    users: [
      {
        email: "admin@sallyport.example",
        name: "Administrator",
        capabilities: ["BYPASS"],
        clearance: ["TLP:RED"],
        maxConfidence: 100,
      },
      {
        email: "analyst@sallyport.example",
        name: "Analyst",
        capabilities: ["KNOWLEDGE_KNUPDATE_KNDELETE"],
        clearance: ["TLP:AMBER"],
        maxConfidence: 80,
      },
      {
        email: "reader@sallyport.example",
        name: "Reader",
        capabilities: ["KNOWLEDGE"],
        clearance: ["TLP:GREEN"],
        maxConfidence: 50,
      },
    ],
  });
});
afterAll(() => harness.close());

test("containers are listed by kind, and each page follows the one before", async () => {
  const first = await harness.call(listContainers, { types: ["Grouping", "Case-Rft"], pageSize: 10 });
  expect(new Set(first.containers.map(({ type }) => type))).toEqual(new Set(["Grouping", "Case-Rft"]));
  const ids = new Set(first.containers.map(({ id }) => id));
  let token = first.nextPageToken;
  while (token !== undefined) {
    const page = await harness.call(listContainers, {
      types: ["Grouping", "Case-Rft"],
      pageSize: 10,
      pageToken: token,
    });
    for (const { id } of page.containers) ids.add(id);
    token = page.nextPageToken;
  }
  expect(ids.size).toBe(first.totalSize);
  const wrong = await refusal(harness.call(listContainers, { types: ["Malware"] }));
  expect(wrong.rawMessage).toContain("Malware is not one of Report, Grouping");
});

test("by name come the named ones, then notes by their titles, then what has neither, over all pages", async () => {
  const { id } = await makeMalware(harness);
  const input = { objects: [id] };
  for (const name of ["zz last", "aa first"])
    await make(harness, "Grouping", { ...input, name: `${name} in order`, context: "unspecified" });
  for (const title of ["c title", "a title", "b title"])
    await make(harness, "Note", { ...input, content: "In order.", attribute_abstract: title });
  await make(harness, "Opinion", { ...input, opinion: "agree" });
  const types = ["Grouping", "Note", "Opinion"];
  for (const pageSize of [1, 2, 100]) {
    const names: string[] = [];
    const ids = new Set<string>();
    let pageToken = "";
    let total: number | undefined;
    do {
      const page = await harness.call(listContainers, { types, order: Order.NAME, pageSize, pageToken });
      names.push(...page.containers.map((one) => `${one.type} ${one.name}`));
      for (const one of page.containers) ids.add(one.id);
      total ??= page.totalSize;
      expect(page.totalSize).toBe(total);
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    expect([names.length, ids.size]).toEqual([total, total]);
    const of = (type: string) => names.filter((name) => name.startsWith(type)).map((name) => name.toLowerCase());
    expect(of("Note")).toEqual(of("Note").toSorted());
    expect(of("Grouping")).toEqual(of("Grouping").toSorted());
    expect(names.findLastIndex((name) => name.startsWith("Grouping"))).toBeLessThan(
      names.findIndex((name) => name.startsWith("Note")),
    );
    expect(names.at(-1)).toMatch(/^Opinion/);
  }
});

test("a grouping is made, listed by its context and read whole", async () => {
  const { id } = await makeMalware(harness);
  const name = fresh("Grouping");
  const { result, objectCount } = await harness.call(createGrouping, {
    name,
    context: "Malware-Analysis",
    description: "What belongs together.",
    objectIds: [id],
    refs: { markings: ["TLP:GREEN"], labels: ["apt"], confidence: 70 },
  });
  expect([result?.notices, objectCount]).toEqual([[], 1]);
  const containerId = result!.object!.id;
  const listed = await harness.call(listGroupings, { query: name, context: "malware-analysis" });
  expect(listed.groupings).toMatchObject([{ id: containerId, name, context: "malware-analysis", type: "" }]);
  const { container } = await harness.call(getContainer, { containerId });
  expect(container).toMatchObject({
    type: "Grouping",
    name,
    description: "What belongs together.",
    context: "malware-analysis",
    markings: ["TLP:GREEN"],
    labels: ["apt"],
    confidence: 70,
    objectCount: 1,
  });
  // The platform makes another one of the same name.
  const again = await harness.call(createGrouping, { name, context: "unspecified" });
  expect(again.result?.object?.id).not.toBe(containerId);
  expect(again.result?.notices).toEqual([`another Grouping with this name already existed (id ${containerId})`]);
  const context = await refusal(harness.call(createGrouping, { name: fresh("Grouping"), context: "gossip" }));
  expect(context.rawMessage).toBe("context: gossip is not one of malware-analysis, suspicious-activity, unspecified");
  const unknown = await refusal(harness.call(listGroupings, { context: "gossip" }));
  expect(unknown.code).toBe(Code.InvalidArgument);
});

test("what holds an object is told, except what the caller may not see", async () => {
  const { id } = await makeMalware(harness);
  const objectMarking = [await markingId(harness, "TLP:RED")];
  const open = await make(harness, "Grouping", { name: "Open", context: "unspecified", objects: [id] });
  const report = await make(harness, "Report", { name: "Holds it", published: "2026-01-01T00:00:00Z", objects: [id] });
  await make(harness, "Grouping", { name: "Secret", context: "unspecified", objects: [id], objectMarking });
  const all = await harness.call(listEntityContainers, { objectId: id });
  expect(all.containers.map((one) => one.id).toSorted()).toEqual([open, report].toSorted());
  expect(all.totalSize).toBe(2);
  const reports = await harness.call(listEntityContainers, { objectId: id, types: ["Report"] });
  expect(reports.containers).toMatchObject([{ id: report, type: "Report", name: "Holds it", status: "NEW" }]);
  expect((await harness.call(listEntityContainers, { objectId: id }, "admin")).totalSize).toBe(3);
  const secret = await makeSecret(harness);
  expect((await refusal(harness.call(listEntityContainers, { objectId: secret.id }))).code).toBe(Code.NotFound);
});

test("membership is told of each object, and a hidden one is not there", async () => {
  const [one, two, secret] = [await makeMalware(harness), await makeMalware(harness), await makeSecret(harness)];
  const containerId = await make(harness, "Grouping", {
    name: "Some",
    context: "unspecified",
    objects: [one.id, secret.id],
  });
  const said = await harness.call(checkContainerMembership, { containerId, objectIds: [one.id, two.id] });
  expect(said).toMatchObject({ held: [{ id: one.id }], notHeld: [{ id: two.id }] });
  const hidden = await refusal(harness.call(checkContainerMembership, { containerId, objectIds: [secret.id] }));
  expect(hidden.code).toBe(Code.NotFound);
  expect((await harness.call(getContainer, { containerId })).container?.objectCount).toBe(1);
  expect((await harness.call(getContainer, { containerId }, "admin")).container?.objectCount).toBe(2);
});

test("a sighting is put into a container, found in it and taken out again", async () => {
  const { id } = await makeMalware(harness);
  const [place] = await entities(harness, "Country");
  const sighting = await sight(harness, id, place!.id);
  const name = fresh("Grouping");
  const made = await harness.call(createGrouping, { name, context: "unspecified", objectIds: [id, sighting] });
  expect([made.result?.notices, made.objectCount]).toEqual([[], 2]);
  const containerId = made.result!.object!.id;
  const reference = { id: sighting, type: "stix-sighting-relationship" };
  const holds = () => harness.call(checkContainerMembership, { containerId, objectIds: [sighting] });
  expect(await holds()).toMatchObject({ held: [reference], notHeld: [] });
  const { containers } = await harness.call(listEntityContainers, { objectId: sighting });
  expect(containers).toMatchObject([{ id: containerId }]);
  const { removeObjectFromContainer, addObjectsToContainer } = ContainerService.method;
  expect(await harness.call(removeObjectFromContainer, { containerId, objectId: sighting })).toMatchObject({
    removed: true,
    objectCount: 1,
  });
  expect(await holds()).toMatchObject({ held: [], notHeld: [reference] });
  const added = await harness.call(addObjectsToContainer, { containerId, objectIds: [sighting] });
  expect(added).toMatchObject({ added: [reference], objectCount: 2 });
  const { createNote } = AnnotationService.method;
  const note = await harness.call(createNote, { objectIds: [sighting], content: "Seen twice." });
  expect(note.result?.notices).toEqual([]);
  const { notes } = await harness.call(NoteService.method.listEntityNotes, { objectId: sighting });
  expect(notes).toMatchObject([{ content: "Seen twice." }]);
});

test("a report is changed in what is given, and the rest stays", async () => {
  const containerId = await make(harness, "Report", {
    name: fresh("Report"),
    published: "2026-01-01T00:00:00Z",
    description: "First.",
    report_types: ["internal-report"],
    confidence: 10,
  });
  const published = { seconds: BigInt(Date.UTC(2026, 4, 5) / 1000), nanos: 0 };
  const { container, notices } = await harness.call(updateContainer, {
    containerId,
    content: "Text.",
    types: ["Threat-Report"],
    published,
    status: "closed",
    confidence: 95,
    commitMessage: "lost",
  });
  expect(container).toMatchObject({
    description: "First.",
    content: "Text.",
    types: ["threat-report"],
    published,
    status: "CLOSED",
    confidence: 80,
  });
  expect(notices).toEqual([
    "the confidence is 80, not 95: OpenCTI limits it to your account's maximum",
    "the commit message was not saved: OpenCTI saves it only together with external references",
  ]);
  const cleared = await harness.call(updateContainer, { containerId, clearTypes: true, description: "" });
  expect(cleared.container).toMatchObject({ types: [], description: "", content: "Text." });
});

test("what a kind does not have, or a vocabulary not hold, is refused, and nothing changes", async () => {
  const caseId = await make(harness, "Case-Rfi", { name: fresh("Case") });
  const { result } = await harness.call(CaseService.method.createTask, { caseId, name: "Do it" });
  const task = result!.object!.id;
  const note = await make(harness, "Note", { content: "Some text." });
  const refusals = [
    [{ containerId: task, severity: "high" }, "severity: objects of type Task do not have this field; leave it out"],
    [
      { containerId: task, status: "CLOSED" },
      "status: OpenCTI has no workflow for objects of type Task; an administrator of OpenCTI can define one",
    ],
    [
      { containerId: note, name: "Title" },
      "container_id: update_container cannot change a Note; use update_note with note_id",
    ],
    [{ containerId: task }, "give at least one field to change"],
    [{ containerId: task, name: "   " }, "name: must have at least two characters, not counting spaces at its ends"],
  ] as const;
  for (const [request, words] of refusals)
    expect((await refusal(harness.call(updateContainer, request))).rawMessage).toBe(words);
  const report = await make(harness, "Report", { name: fresh("Report"), published: "2026-01-01T00:00:00Z" });
  const state = await refusal(harness.call(updateContainer, { containerId: report, status: "LOST" }));
  expect(state.rawMessage).toBe("status: LOST is not one of NEW, IN_PROGRESS, ANALYZED, CLOSED");
  const due = { seconds: 1_800_000_000n, nanos: 0 };
  const { container } = await harness.call(updateContainer, { containerId: task, name: "Done", dueDate: due });
  expect(container).toMatchObject({ type: "Task", name: "Done", dueDate: due });
  const opinion = await make(harness, "Opinion", { opinion: "agree", objects: [report], confidence: 0 });
  const changed = await harness.call(updateContainer, {
    containerId: opinion,
    opinion: "disagree",
    description: "Why",
  });
  expect(changed.container).toMatchObject({ type: "Opinion", name: "disagree", description: "Why" });
});

test("a container is deleted, what it held stays, and who may not delete is refused", async () => {
  const { id } = await makeMalware(harness);
  const containerId = await make(harness, "Grouping", {
    name: fresh("Grouping"),
    context: "unspecified",
    objects: [id],
    confidence: 0,
  });
  expect((await refusal(harness.call(deleteContainer, { containerId }, "reader"))).code).toBe(Code.PermissionDenied);
  expect((await refusal(harness.call(deleteContainer, { containerId: id }))).code).toBe(Code.FailedPrecondition);
  expect(await harness.call(deleteContainer, { containerId })).toMatchObject({ deleted: { id: containerId } });
  expect((await refusal(harness.call(getContainer, { containerId }))).code).toBe(Code.NotFound);
  expect((await harness.call(listEntityContainers, { objectId: id })).totalSize).toBe(0);
});
